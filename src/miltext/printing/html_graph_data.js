// graphData: the nodes and values of a graph, and what is said of them. `miltext.printing.graph` says what it reads.
const graphData = (() => {
  const CHARACTER = 7.25; // the width of one, in pixels
  const LONGEST = 26; // characters of a name
  const COMPUTED = ["op", "const"];

  const svg = (name, attributes = {}, ...inside) => fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, inside);
  const html = (name, attributes = {}, ...inside) => fill(document.createElement(name), attributes, inside);

  function fill(element, attributes, inside) {
    for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  }

  // A name as it is shown in a scope: without the beginning that the scope says, or without any if it is long.
  function shortName(name, prefix = "") {
    const rest = prefix && name.startsWith(prefix) ? name.slice(prefix.length).replace(/^[_./]+/, "") : name;
    const [last] = /[^_./]*$/.exec(prefix);
    const short = [...(/^\d/.test(rest) && rest !== name ? `${last}_${rest}` : rest || name)];
    return short.length > LONGEST ? `\u2026${short.slice(1 - LONGEST).join("")}` : short.join("");
  }

  const shortType = (type) => {
    const short = type.replace(/tensor<(\w+), (\[[^\]]*\])>/g, "$1 $2");
    return short.length > LONGEST + 6 ? `${short.slice(0, LONGEST + 5)}\u2026` : short;
  };
  const widthOf = (text) => [...text].reduce((sum, each) => sum + (each > "\u1100" ? 2 : 1), 0) * CHARACTER;
  const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

  // ---- the data: nodes that know what is in them, and for each value its maker and its users

  function read({ values, nodes: rows }) {
    const makers = [];
    const users = values.map(() => []);
    const nodes = rows.map(([parent, kind, label, line, makes, takes, state = "", operations = 0], id) => {
      makes.forEach((value) => { makers[value] = id; });
      takes.forEach((value) => users[value].push(id));
      return { id, parent, kind, label, line, makes, takes, state, differing: new Map(), inside: [], operations, end: id + 1, last: line };
    });
    const top = [];
    for (const node of nodes) (nodes[node.parent]?.inside || top).push(node);
    for (const node of [...nodes].reverse()) {
      const around = nodes[node.parent];
      node.operations += node.kind === "op";
      if (node.state) node.differing.set(node.state, (node.differing.get(node.state) || 0) + 1);
      if (!around) continue;
      around.operations += node.operations;
      node.differing.forEach((count, state) => around.differing.set(state, (around.differing.get(state) || 0) + count));
      around.end = Math.max(around.end, node.end);
      if (node.kind !== "const") around.last = Math.max(around.last, node.last);
    }
    return { values, nodes, top, makers, users };
  }

  // ---- what leads from box to box: those targets together that get the same values; `as` has each node's box

  function flowsOf({ values, nodes, makers, users, boxes }, as, constants) {
    const found = new Map();
    values.forEach((_, value) => {
      const maker = nodes[makers[value]];
      const from = maker && as[maker.id];
      if (from === undefined || (maker.kind === "const" && !constants)) return;
      for (const to of new Set(users[value].map((id) => as[id]))) {
        if (to === from || to === undefined) continue;
        const key = from * nodes.length + to;
        if (!found.has(key)) found.set(key, { from, to, values: [] });
        found.get(key).values.push(value);
      }
    });
    const flows = new Map();
    for (const { from, to, values: led } of found.values()) {
      const key = `${from}:${led}`;
      if (!flows.has(key)) flows.set(key, { from: boxes.get(from), to: [], shapes: [], ...labelOf(led, values) });
      flows.get(key).to.push(boxes.get(to));
    }
    return [...flows.values()];
  }

  function labelOf(led, values) {
    const label = led.length === 1 ? shortType(values[led[0]][1]) : counted(led.length, "value");
    const told = led.slice(0, 12).map((value) => `${values[value][0]}: ${values[value][1]}`);
    return { label, labelWidth: widthOf(label) * 0.9, told: told.join("\n") + (led.length > 12 ? "\n\u2026" : "") };
  }

  // ---- what is said of a node

  function titleOf(node) {
    if (COMPUTED.includes(node.kind)) return node.label;
    if (node.kind === "scope" && !node.label) {
      const kinds = new Set(node.inside.map((inner) => inner.kind).filter((kind) => kind !== "scope"));
      if (!node.operations && kinds.size < 2) return counted(node.inside.length, [...kinds][0] || "scope");
      return node.line === node.last ? `line ${node.line}` : `lines ${node.line}\u2013${node.last}`;
    }
    return node.kind === "function" || node.kind === "block" ? `${node.kind} ${node.label}` : node.label;
  }

  function nameOf(node, values) {
    if (node.kind === "input" || node.kind === "output") return node.kind;
    if (node.inside.length || node.kind === "scope") return node.operations || node.kind !== "scope" ? counted(node.operations, "operation") : "";
    return node.makes.map((value) => values[value][0]).join(", ");
  }

  // ---- what differs, in a graph of a difference

  const STATES = { plus: ["+", "added"], minus: ["-", "removed"], change: ["~", "changed"], move: [">", "moved"],
    name: ["=", "renamed"], follow: ["\u21b3", "following"] };

  // The state of a node, or of all in it: mixed causes are a change, and consequences beside causes do not count.
  function stateOf({ state, differing }) {
    const causes = [...differing.keys()].filter((each) => each !== "follow");
    return state || (causes.length > 1 ? "change" : causes[0] || [...differing.keys()][0] || "");
  }

  const differences = (node) => Object.keys(STATES).filter((state) => node.differing.has(state))
    .map((state) => (node.inside.length ? `${node.differing.get(state)} ${STATES[state][1]}` : STATES[state][1])).join(", ");
  const signed = (node, title) => (node.state ? `${STATES[node.state][0]} ${title}` : title);

  const namesIn = (nodes, values) => [...new Set(nodes.map((node) => nameOf(node, values) || titleOf(node)))].slice(0, 6).join(", ");

  return { svg, html, read, flowsOf, titleOf, nameOf, namesIn, shortName, widthOf, counted, stateOf, differences, signed };
})();
