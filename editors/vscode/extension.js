// Starts `miltext lsp`, and shows models as miltext prints them. Without that command, highlighting and snippets still
// work.
"use strict";

const { execFile } = require("node:child_process");
const { promisify } = require("node:util");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { registerModels } = require("./models");

let client;
let output;

const run = promisify(execFile);

async function start() {
  const command = miltext();
  try {
    await run(command, ["lsp", "--help"]);
  } catch (error) {
    output.info(`There is no language server: ${error.message}`);
    output.info("Name the place of miltext in the setting mil.server.path, or install it with its server:");
    output.info("`pip install '.[lsp]'` in a checkout of miltext, or `pip install 'WHEEL[lsp]'` with its wheel");
    return;
  }
  const server = { command, args: ["lsp"] };
  client = new LanguageClient("mil", "MIL", server, { documentSelector: [{ language: "mil" }], outputChannel: output });
  await client.start();
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.dispose();
}

async function restart() {
  await stop();
  await start();
}

function miltext() {
  return vscode.workspace.getConfiguration("mil").get("server.path");
}

async function activate(context) {
  output = vscode.window.createOutputChannel("MIL", { log: true });
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("mil.restartServer", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("mil.server") && restart()),
    ...registerModels(miltext),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
