// Models as text, as pages and as differences: what `miltext print` writes. No shell reads a path.
"use strict";

const { execFile } = require("node:child_process");
const path = require("node:path");
const { promisify } = require("node:util");
const vscode = require("vscode");

const SCHEME = "mil-model";
const EDITOR = "mil.model";
const MODELS = { Models: ["mlpackage", "mlmodel", "mlmodelc"] };
const MOST = 1 << 30; // bytes that miltext may print
const INSTALL = "Install miltext with pip, or name the command in the setting mil.server.path.";

const run = promisify(execFile);

/** Return the output of miltext; throw an Error whose message is its first line and a way out. */
async function printed(miltext, ...words) {
  try {
    return (await run(miltext(), ["print", "--color", "never", "--quiet", ...words], { maxBuffer: MOST })).stdout;
  } catch (error) {
    if (error.code === "ENOENT") {
      throw new Error(`The command ${miltext()} was not found. ${INSTALL}`);
    }
    throw new Error((error.stderr || error.message).split("\n")[0]);
  }
}

/** Return the address of a model's text. Its path ends in `.mil`, so that it is highlighted. */
function textOf(model) {
  return vscode.Uri.from({ scheme: SCHEME, path: `${model.path.replace(/\/+$/, "")}.mil`, query: model.fsPath });
}

function registerModels(miltext) {
  const changed = new vscode.EventEmitter();
  const watchers = new Map();

  /** Make a shown text follow its model, a file or a folder. */
  function watch(uri) {
    if (watchers.has(uri.toString())) {
      return;
    }
    const { dir, base } = path.parse(uri.query);
    const found = [base, `${base}/**`].map((pattern) => {
      const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(dir), pattern));
      for (const event of ["onDidChange", "onDidCreate", "onDidDelete"]) {
        watcher[event](() => changed.fire(uri));
      }
      return watcher;
    });
    watchers.set(uri.toString(), found);
  }

  function forget(document) {
    for (const watcher of watchers.get(document.uri.toString()) ?? []) {
      watcher.dispose();
    }
    watchers.delete(document.uri.toString());
  }

  async function text(uri) {
    watch(uri);
    try {
      return await printed(miltext, "--", uri.query);
    } catch (error) {
      vscode.window.showErrorMessage(error.message);
      return `// ${error.message}\n`;
    }
  }

  async function page(webview, model) {
    try {
      webview.html = await printed(miltext, "--html", "--", model.fsPath);
    } catch (error) {
      vscode.window.showErrorMessage(error.message);
      webview.html = `<p>${error.message.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`)}</p>`;
    }
  }

  /** Return a model: the given one, that of the editor, or one that the user chooses. */
  async function chosen(model, title) {
    if (model) {
      return model;
    }
    const options = { title, canSelectFiles: true, canSelectFolders: true, canSelectMany: false, filters: MODELS };
    return (await vscode.window.showOpenDialog(options))?.[0];
  }

  async function openAsText(given) {
    const model = await chosen(given, "Open a Model as Text");
    if (model) {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(textOf(model)), { preview: false });
    }
  }

  async function openAsPage(given) {
    const model = await chosen(given, "Open a Model as a Page");
    if (model) {
      const title = path.basename(model.fsPath);
      const panel = vscode.window.createWebviewPanel(EDITOR, title, vscode.ViewColumn.Active, { enableScripts: true });
      await page(panel.webview, model);
    }
  }

  async function compare(given, selected) {
    const old = await chosen(given, "Compare: the Model Before");
    const others = (selected ?? []).filter((each) => each.toString() !== old?.toString());
    const changedOne = old && (await chosen(others[0], "Compare: the Model After"));
    if (changedOne) {
      const title = `${path.basename(old.fsPath)} ↔ ${path.basename(changedOne.fsPath)}`;
      await vscode.commands.executeCommand("vscode.diff", textOf(old), textOf(changedOne), title);
    }
  }

  const editor = {
    openCustomDocument: (uri) => ({ uri, dispose() {} }),
    async resolveCustomEditor(document, panel) {
      panel.webview.options = { enableScripts: true };
      await page(panel.webview, document.uri);
    },
  };

  return [
    changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: text,
    }),
    vscode.workspace.onDidCloseTextDocument(forget),
    vscode.window.registerCustomEditorProvider(EDITOR, editor),
    vscode.commands.registerCommand("mil.openAsText", openAsText),
    vscode.commands.registerCommand("mil.openAsPage", openAsPage),
    vscode.commands.registerCommand("mil.compareModels", compare),
  ];
}

module.exports = { registerModels };
