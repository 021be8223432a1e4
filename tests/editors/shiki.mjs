// Shiki at work: node shiki.mjs PACKAGE GRAMMAR TEXT... prints, for each text, a JSON line of [line, start, end, scope],
// the scope being the innermost one. PACKAGE is the package.json of the folder that has shiki.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [packagePath, grammarPath, ...textPaths] = process.argv.slice(2);
const { createHighlighter } = await import(pathToFileURL(createRequire(resolve(packagePath)).resolve("shiki")));
const grammar = { ...JSON.parse(readFileSync(grammarPath, "utf8")), name: "mil" };
const shiki = await createHighlighter({ langs: [grammar], themes: ["github-dark"] });
const options = { lang: "mil", theme: "github-dark", includeExplanation: "scopeName", tokenizeTimeLimit: 0 };

for (const path of textPaths) {
  const found = [];
  shiki.codeToTokensBase(readFileSync(path, "utf8"), options).forEach((line, number) => {
    let column = 0;
    for (const { content, scopes } of line.flatMap((token) => token.explanation ?? [])) {
      const end = column + [...content].length;
      found.push([number, column, end, scopes.at(-1).scopeName]);
      column = end;
    }
  });
  console.log(JSON.stringify(found));
}
