// `node playground_lexer.mjs LEXER < {rules, texts}`: the class of each character of each text, as the playground has it.
import { readFileSync } from "node:fs";

const { lexer } = await import(process.argv[2]);
const { rules, texts } = JSON.parse(readFileSync(0, "utf8"));
const { startState, blankLine, token } = lexer(rules);

function classes(text) {
  const state = startState();
  return text.split("\n").map((string) => {
    const stream = { string, pos: 0, eol: () => stream.pos >= string.length };
    if (!string) blankLine(state);
    let made = "";
    while (!stream.eol()) {
      const start = stream.pos;
      made += (token(stream, state) ?? " ").repeat(stream.pos - start);
    }
    return made;
  });
}
console.log(JSON.stringify(texts.map(classes)));
