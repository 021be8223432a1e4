// The TextMate engine of VS Code at work: node textmate.mjs GRAMMAR TEXT... prints, for each text, a JSON line of
// [line, start, end, scope], the scope being the innermost one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const [grammarPath, ...textPaths] = process.argv.slice(2);
const require = createRequire(join(dirname(resolve(grammarPath)), "..", "package.json"));
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(readFileSync(grammarPath, "utf8"), grammarPath),
});
const grammar = await registry.loadGrammar("source.mil");

for (const path of textPaths) {
  const found = [];
  let state = textmate.INITIAL;
  readFileSync(path, "utf8").split("\n").forEach((line, number) => {
    const read = grammar.tokenizeLine(line, state);
    for (const token of read.tokens) {
      found.push([number, token.startIndex, Math.min(token.endIndex, line.length), token.scopes.at(-1)]);
    }
    state = read.ruleStack;
  });
  console.log(JSON.stringify(found));
}
