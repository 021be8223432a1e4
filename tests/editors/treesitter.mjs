// Runs a grammar.js with the functions of tree-sitter's own language, and writes the grammar as JSON.

import { createRequire } from "node:module";
import { resolve } from "node:path";

const written = (rule) =>
  rule instanceof RegExp
    ? { type: "PATTERN", value: rule.source }
    : typeof rule === "string"
      ? { type: "STRING", value: rule }
      : rule;
const BLANK = { type: "BLANK" };
const members = (type) => (...rules) => ({ type, members: rules.map(written) });
const content = (type) => (rule) => ({ type, content: written(rule) });

Object.assign(globalThis, {
  seq: members("SEQ"),
  choice: members("CHOICE"),
  optional: (rule) => ({ type: "CHOICE", members: [written(rule), BLANK] }),
  repeat: content("REPEAT"),
  repeat1: content("REPEAT1"),
  token: content("TOKEN"),
  field: (name, rule) => ({ type: "FIELD", name, content: written(rule) }),
  grammar: ({ name, rules, extras, word, supertypes, ...others }) => {
    if (Object.keys(others).length) throw new Error(`not read: ${Object.keys(others)}`);
    const symbols = Object.fromEntries(Object.keys(rules).map((rule) => [rule, { type: "SYMBOL", name: rule }]));
    const $ = new Proxy(symbols, {
      get(known, rule) {
        if (rule in known) return known[rule];
        throw new Error(`${String(rule)} is not a rule`);
      },
    });
    const bodies = Object.entries(rules).map(([rule, body]) => [rule, written(body($))]);
    return {
      name,
      word: word($).name,
      rules: Object.fromEntries(bodies),
      extras: extras($).map(written),
      supertypes: supertypes($).map((symbol) => symbol.name),
    };
  },
});

console.log(JSON.stringify(createRequire(import.meta.url)(resolve(process.argv[2]))));
