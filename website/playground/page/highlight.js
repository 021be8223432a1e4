// MIL for CodeMirror, by the states of miltext's own lexer, which the build writes into rules.json.
import { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { Tag, tagHighlighter } from "@lezer/highlight";
import rules from "./rules.json";

const STATES = Object.fromEntries(
  Object.entries(rules.states).map(([name, entries]) => [
    name,
    entries.map(([pattern, kind, enters, leaves]) => ({ pattern: new RegExp(pattern, "y"), kind, enters, leaves })),
  ]),
);
const KINDS = [...new Set(Object.values(STATES).flatMap((entries) => entries.map((entry) => entry.kind)))].filter(Boolean);
const TAGS = Object.fromEntries([...KINDS, "e"].map((kind) => [kind, Tag.define()]));

// Takes the first rule that fits at a place of a line, and changes the stack of states as it says.
function step(line, at, stack) {
  for (const rule of STATES[stack.at(-1)]) {
    rule.pattern.lastIndex = at;
    const found = rule.pattern.exec(line);
    if (!found || (!found[0] && !rule.leaves)) continue;
    if (rule.enters) stack.push(rule.enters);
    else if (rule.leaves && stack.length > 1) stack.pop();
    else if (!found[0]) continue;
    return { length: found[0].length, kind: rule.kind };
  }
  return null;
}

// What an end of line leaves, as the string that it cuts off.
function endLine(line, stack) {
  for (let depth = stack.length; depth > 0 && step(line, line.length, stack)?.length === 0; depth--);
}

function token(stream, state) {
  let found = step(stream.string, stream.pos, state.stack);
  for (let most = 100; found && found.length === 0 && most; most--) found = step(stream.string, stream.pos, state.stack);
  stream.pos += found?.length || 1;
  if (stream.eol()) endLine(stream.string, state.stack);
  return found ? found.kind : "e";
}

export const mil = [
  StreamLanguage.define({
    name: "mil",
    startState: () => ({ stack: [rules.start] }),
    copyState: (state) => ({ stack: [...state.stack] }),
    blankLine: (state) => endLine("", state.stack),
    token,
    tokenTable: TAGS,
    languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{", '"'] } },
  }),
  syntaxHighlighting(tagHighlighter(Object.entries(TAGS).map(([kind, tag]) => ({ tag, class: kind })))),
];
