// highlight.js at work: node highlightjs.mjs MODULE TEXT... prints, for each text, a JSON line of [start, end, class].
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modulePath, ...textPaths] = process.argv.slice(2);
const hljs = createRequire(resolve(modulePath))("highlight.js");
hljs.registerLanguage("mil", (await import(pathToFileURL(resolve(modulePath)))).default);
hljs.configure({ throwUnescapedHTML: true });

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };
const PIECE = /<span class="([^"]*)">|<\/span>|([^<]+)/g;
const scope = (classes) => classes.split(" ").map((name) => name.replace(/^hljs-|_+$/g, "")).join(".");

for (const path of textPaths) {
  const found = [];
  const open = [];
  let offset = 0;
  const { value, illegal } = hljs.highlight(readFileSync(path, "utf8"), { language: "mil" });
  if (illegal) throw new Error(`${path}: highlight.js gave up`);
  for (const [piece, opened, text] of value.matchAll(PIECE)) {
    if (opened) open.push(scope(opened));
    else if (!text) open.pop();
    else {
      const length = [...text.replace(/&[^;]+;/g, (entity) => ENTITIES[entity])].length;
      if (open.length) found.push([offset, offset + length, open.at(-1)]);
      offset += length;
    }
  }
  console.log(JSON.stringify(found));
}
