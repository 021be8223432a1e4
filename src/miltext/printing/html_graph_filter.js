// GraphFilter: the operations, inputs and outputs of a graph whose type, name or scope contains all of some words. Anywhere,
// a word is looked for in types and names, and in scopes if no type and no name contains it. The names of the constants that
// an operation takes count as its scopes: these are made of them.
class GraphFilter {
  static KINDS = ["op", "const", "input", "output"];
  static PARTS = ["anywhere", "type", "name", "scope"];

  constructor({ nodes, values, makers }) {
    this.nodes = nodes;
    this.hits = [];
    this.asked = "";
    this.wanted = false;
    this.at = -1;
    this.before = []; // for each node, the number of hits among the nodes before it
    const functions = nodes.filter((node) => node.kind === "function").length;
    const scopes = [];
    this.parts = nodes.map((node) => {
      const named = node.kind === "scope" || node.kind === "block" || (node.kind === "function" && functions > 1);
      const around = scopes[node.parent] || "";
      scopes.push(named ? `${around} ${node.label.toLowerCase()}` : around);
      const names = node.makes.map((value) => values[value][0]);
      const [type, name] = node.kind === "op" || node.kind === "const" ? [node.label, names.join(" ")] : [node.kind, node.label];
      const constants = node.takes.filter((value) => nodes[makers[value]]?.kind === "const").map((value) => values[value][0].toLowerCase());
      return { type: type.toLowerCase(), name: name.toLowerCase(), scope: [around, ...constants].join(" ") };
    });
  }

  // Finds the nodes that say these words in this part; gives their number.
  find(words, part, constants) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = JSON.stringify([wanted, part, constants]);
    if (asked === this.asked) return this.hits.length;
    const shown = this.nodes.filter((node) => GraphFilter.KINDS.includes(node.kind) && (node.kind !== "const" || constants));
    const within = (names, word) => ({ id }) => names.some((name) => this.parts[id][name].includes(word));
    const own = ["type", "name"];
    const tests = wanted.map((word) => within(part !== "anywhere" ? [part] : shown.some(within(own, word)) ? own : ["scope"], word));
    this.hits = tests.length ? shown.filter((node) => tests.every((says) => says(node))) : [];
    Object.assign(this, { asked, at: -1, wanted: wanted.length > 0, before: [] });
    let next = 0;
    for (let id = 0; id <= this.nodes.length; id++) {
      this.before.push(next);
      if (this.hits[next]?.id === id) next++;
    }
    return this.hits.length;
  }

  step(by) {
    const count = this.hits.length;
    this.at = (Math.max(this.at, by < 0 ? 0 : -1) + by + count) % count;
    return this.hits[this.at];
  }

  told() {
    if (!this.wanted) return "";
    return this.at < 0 && this.hits.length ? `${this.hits.length} found` : `${this.at + 1} of ${this.hits.length}`;
  }

  counted(name, count) {
    return count ? `${count} of ${name}` : name;
  }

  // Shows in a box whether it is found; a folded box, how many in it are.
  mark({ node, shape, words, name, inside }) {
    const count = this.wanted && this.hits.length ? this.before[node.end] - this.before[node.id] : 0;
    shape.classList.toggle("g-hit", count > 0 && !inside.length);
    shape.classList.toggle("g-dim", this.wanted && this.hits.length > 0 && !count);
    if (words && node.inside.length) words.textContent = this.counted(name, count);
  }
}
