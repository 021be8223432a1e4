// The states of miltext's lexer, line by line, as CodeMirror's StreamParser and tests use them.

export function lexer({ start, states }) {
  const rules = Object.fromEntries(Object.entries(states).map(([name, entries]) => [name, entries.map(rule)]));

  // Takes the first rule that fits at a place of a line, and changes the stack of states as it says.
  function step(line, at, stack) {
    for (const { pattern, kind, enters, leaves } of rules[stack.at(-1)]) {
      pattern.lastIndex = at;
      const found = pattern.exec(line);
      if (!found || (!found[0] && !leaves)) continue;
      if (enters) stack.push(enters);
      else if (leaves && stack.length > 1) stack.pop();
      else if (!found[0]) continue;
      return { length: found[0].length, kind };
    }
    return null;
  }

  // What an end of line leaves, as the string that it cuts off.
  function endLine(line, stack) {
    while (step(line, line.length, stack)?.length === 0);
  }

  function token(stream, { stack }) {
    let found = step(stream.string, stream.pos, stack);
    while (found?.length === 0) found = step(stream.string, stream.pos, stack); // each left a state
    stream.pos += found?.length || 1;
    if (stream.eol()) endLine(stream.string, stack);
    return found ? found.kind : "e";
  }

  return {
    startState: () => ({ stack: [start] }),
    copyState: ({ stack }) => ({ stack: [...stack] }),
    blankLine: ({ stack }) => endLine("", stack),
    token,
  };
}

function rule([pattern, kind, enters, leaves]) {
  return { pattern: new RegExp(pattern, "y"), kind, enters, leaves };
}

export function kinds({ states }) {
  const all = Object.values(states).flatMap((entries) => entries.map(([, kind]) => kind));
  return [...new Set([...all, "e"])].filter(Boolean);
}
