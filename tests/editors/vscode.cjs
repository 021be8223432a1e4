// Runs the extension's commands with a stand-in for VS Code. Arguments: the folder of the extension, and a JSON object
// with the `command` of miltext, the `steps` (a command and its paths), and the `answers` of dialogs.
"use strict";

const Module = require("node:module");
const path = require("node:path");
const { writeFileSync } = require("node:fs");

const [folder, given] = [process.argv[2], JSON.parse(process.argv[3])];
const seen = { errors: [], texts: [], pages: [], differences: [], changes: 0, watched: [] };
const commands = new Map();
const watchers = [];
let provider;
let editor;

class Uri {
  constructor(parts) {
    Object.assign(this, { scheme: "file", path: "", query: "" }, parts);
  }
  static file(name) {
    return new Uri({ path: name });
  }
  static from(parts) {
    return new Uri(parts);
  }
  get fsPath() {
    return this.path;
  }
  toString() {
    return `${this.scheme}:${this.path}?${this.query}`;
  }
}

class EventEmitter {
  constructor() {
    this.event = () => {};
  }
  fire() {
    seen.changes += 1;
  }
}

const disposable = { dispose() {} };
const vscode = {
  Uri,
  EventEmitter,
  RelativePattern: class {
    constructor(base, pattern) {
      Object.assign(this, { base, pattern });
    }
  },
  ViewColumn: { Active: -1 },
  commands: {
    registerCommand: (name, action) => commands.set(name, action) && disposable,
    executeCommand: async (_, old, changed, title) =>
      seen.differences.push([await text(old), await text(changed), title, path.extname(old.path)]),
  },
  window: {
    createOutputChannel: () => ({ info() {} }),
    showErrorMessage: (message) => seen.errors.push(message),
    showOpenDialog: async () => (given.answers.length ? [Uri.file(given.answers.shift())] : undefined),
    showTextDocument: async (document) => seen.texts.push(document),
    createWebviewPanel: (_, title) => ({ webview: { set html(page) { seen.pages.push([title, page]); } } }),
    registerCustomEditorProvider: (_, made) => (editor = made) && disposable,
  },
  workspace: {
    getConfiguration: () => ({ get: () => given.command }),
    onDidChangeConfiguration: () => disposable,
    onDidCloseTextDocument: () => disposable,
    openTextDocument: (uri) => text(uri),
    registerTextDocumentContentProvider: (_, made) => (provider = made) && disposable,
    createFileSystemWatcher: ({ base, pattern }) => {
      const events = [];
      const watcher = { dispose() {} };
      for (const event of ["onDidChange", "onDidCreate", "onDidDelete"]) {
        watcher[event] = (action) => events.push(action);
      }
      watchers.push(events);
      seen.watched.push([base.path, pattern]);
      return watcher;
    },
  },
};

const text = (uri) => provider.provideTextDocumentContent(uri);
const load = Module._load;
Module._load = (name, ...others) => {
  if (name === "vscode") return vscode;
  if (name === "vscode-languageclient/node") return { LanguageClient: class { start() {} dispose() {} } };
  return load(name, ...others);
};

(async () => {
  const extension = require(path.join(folder, "extension.js"));
  await extension.activate({ subscriptions: [] });
  seen.commands = [...commands.keys()];
  for (const [name, paths] of given.steps) {
    const uris = paths.map((each) => Uri.file(each));
    if (name === "custom") {
      const panel = { webview: {} };
      await editor.resolveCustomEditor(editor.openCustomDocument(uris[0]), panel);
      seen.pages.push(["custom", panel.webview.html]);
    } else {
      await commands.get(name)(uris[0], uris.length ? uris : undefined);
    }
  }
  watchers.flat().forEach((action) => action());
  writeFileSync(1, JSON.stringify(seen));
})();
