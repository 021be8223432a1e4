// MIL for CodeMirror, by the states of miltext's own lexer, which the build writes into rules.json.
import { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { Tag, tagHighlighter } from "@lezer/highlight";
import { kinds, lexer } from "./lexer.js";
import rules from "./rules.json";

const TAGS = Object.fromEntries(kinds(rules).map((kind) => [kind, Tag.define()]));
const SYNTAX = {
  commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
  closeBrackets: { brackets: ["(", "[", "{", '"'] },
};

export const mil = [
  StreamLanguage.define({ name: "mil", ...lexer(rules), tokenTable: TAGS, languageData: SYNTAX }),
  syntaxHighlighting(tagHighlighter(Object.entries(TAGS).map(([kind, tag]) => ({ tag, class: kind })))),
];
