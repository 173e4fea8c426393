// Starts the language server, and shows pictures of a schedule beside its text.
"use strict";

const { execFile } = require("node:child_process");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGE = "dtpoly";
let client;

function settings() {
  const found = vscode.workspace.getConfiguration(LANGUAGE);
  const plugins = found.get("plugins").flatMap((file) => ["--plugin", file]);
  return { command: found.get("command"), plugins, sizes: found.get("sizes") };
}

async function activate(context) {
  const { command, plugins } = settings();
  const server = { command, args: ["lsp", ...plugins] };
  const texts = { documentSelector: [{ language: LANGUAGE }] };
  client = new LanguageClient(LANGUAGE, LANGUAGE, server, texts);
  context.subscriptions.push(
    vscode.commands.registerCommand("dtpoly.showMap", () => show("map")),
    vscode.commands.registerCommand("dtpoly.showTree", () => show("tree")),
  );
  await client.start();
}

// Runs `dtpoly show` on the text as it is, saved or not, and shows the picture that comes of it.
async function show(stage) {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== LANGUAGE) {
    return;
  }
  const { command, plugins, sizes } = settings();
  const words = ["show", "-", "--stage", stage, "--form", "svg", ...plugins];
  if (stage === "map") {
    const prompt = "The sizes of labels, such as m=64,n=64";
    const asked = sizes || (await vscode.window.showInputBox({ prompt }));
    if (!asked) {
      return;
    }
    words.push("--size", asked);
  }
  const shown = execFile(command, words, { maxBuffer: 1 << 26 }, (error, picture, told) => {
    if (error) {
      vscode.window.showErrorMessage(`dtpoly show: ${told || error.message}`);
      return;
    }
    const beside = vscode.ViewColumn.Beside;
    const panel = vscode.window.createWebviewPanel(LANGUAGE, `${stage}`, beside, {});
    panel.webview.html = `<html><body style="background:white">${picture}</body></html>`;
  });
  shown.stdin.end(editor.document.getText());
}

async function deactivate() {
  if (client) {
    await client.stop();
  }
}

module.exports = { activate, deactivate };
