// NodeInspector shows what a text says of a node of its graph: type, name, inputs, outputs, attributes and weights.
// `miltext.printing.graph_calls` says more of the data. `go(line)` shows a line, and `show(id)` a node.
class NodeInspector {
  static MOST = 12; // so many users of a value are listed

  constructor(panel, data, { go, show, onClose }) {
    Object.assign(this, graphData.read(data), { panel, data, go, show, onClose });
    this.shown = null;
    panel.addEventListener("click", (event) => this.click(event));
  }

  // ---- what is shown, and its address

  open(id) {
    const node = this.nodes[id];
    this.shown = id;
    this.panel.replaceChildren(...this.contents(node));
    this.panel.hidden = false;
    this.panel.scrollTop = 0;
  }

  close() {
    if (this.shown === null) return;
    this.shown = null;
    this.panel.hidden = true;
    this.panel.replaceChildren();
    this.onClose();
  }

  click(event) {
    const link = event.target.closest("a, button");
    if (!link) return;
    if (link.matches("button")) this.close();
    else if (link.dataset.node) {
      this.show(Number(link.dataset.node));
      this.panel.querySelector("h2").focus(); // the link is gone
    } else this.go(Number(link.dataset.line));
    event.preventDefault();
  }

  valueOf(node) {
    return node.makes[0] ?? node.takes[0];
  }

  // Gives the name of a node's value; with a number if another value before it has the same.
  address(id) {
    const value = this.valueOf(this.nodes[id]);
    const name = value === undefined ? "" : this.values[value][0];
    const same = name ? this.values.slice(0, value).filter((each) => each[0] === name).length : 0;
    return name && `#value=${encodeURIComponent(name)}${same ? `@${same + 1}` : ""}`;
  }

  // Gives the number of the node that makes the value of an address, if any.
  named(hash) {
    let words = hash.replace(/^#(value=)?/, "");
    try {
      words = decodeURIComponent(words);
    } catch { /* not encoded */ }
    if (!words) return undefined;
    const named = (name) => this.values.flatMap((each, value) => (each[0] === name ? [this.makers[value]] : []));
    const [, name, number] = /^(.+)@(\d+)$/s.exec(words) || [];
    return named(words)[0] ?? (name && named(name)[Number(number) - 1]);
  }

  // ---- the data

  // Gives the arguments and the attributes of a node: each [name, items], with items {value}, {text} or {weight}.
  callOf(node) {
    const [form, ...own] = [this.data.calls[node.id]].flat();
    if (form === null) return { given: [], attributes: [] };
    const takes = node.takes[Symbol.iterator]();
    const owned = (item) => (typeof item === "number" ? { weight: this.data.weights[item] } : { text: item });
    const read = (item, missing) => (item === null ? missing() : item === 0 ? owned(own.shift()) : { text: item });
    const all = (list, missing) => list.map(([name, ...items]) => [name, items.map((item) => read(item, missing))]);
    const [given, attributes] = this.data.forms[form];
    const ownName = () => ({ text: JSON.stringify(this.values[node.makes[0]][0]) });
    return { given: all(given, () => ({ value: takes.next().value })), attributes: all(attributes, ownName) };
  }

  // ---- the panel

  contents(node) {
    const { html, titleOf } = graphData;
    const { given, attributes } = this.callOf(node);
    const isOutput = node.kind === "output";
    const value = this.valueOf(node);
    const made = isOutput ? [] : node.makes;
    const head = html("div", { class: "i-head" }, html("h2", { tabindex: -1 }, html("b", {}, node.kind === "op" || node.kind === "const" ? titleOf(node) : node.kind), " ",
      made.length > 1 ? "" : value === undefined ? node.label : this.values[value][0]),
    html("button", { type: "button", "aria-label": "Close the inspector", title: "Close (Escape)" }, "\u00d7"));
    const settings = attributes.filter(([name]) => name !== "name" || node.kind === "op");
    return [head, html("p", {}, this.line(node.line), this.around(node)),
      ...this.section("Inputs", this.ranked(given).map(([name, items]) => this.row(name, items.map((item) => this.item(item))))),
      ...this.section("Value", isOutput ? [this.row("from", [this.value(value)])] : []),
      ...this.section("Attributes", settings.map(([name, items]) => this.row(name, items.map((item) => this.item(item))))),
      ...this.section(node.kind === "input" ? "Value" : "Outputs", made.map((each) => this.made(each)))];
  }

  // Computed values first, then weights, then other constants.
  ranked(given) {
    const rank = ([, [item]]) => {
      const maker = item?.value === undefined ? null : this.nodes[this.makers[item.value]];
      const isWeight = item?.weight || (maker?.kind === "const" && this.callOf(maker).attributes.some(([, [held]]) => held?.weight));
      return maker && maker.kind !== "const" ? 0 : isWeight ? 1 : 2;
    };
    return [...given].sort((one, other) => rank(one) - rank(other));
  }

  section(title, rows) {
    const { html } = graphData;
    return rows.length ? [html("section", {}, html("h3", {}, title), html("dl", {}, ...rows.flat()))] : [];
  }

  row(name, parts) {
    const { html } = graphData;
    return [html("dt", {}, name || "\u2013"), html("dd", {}, ...parts)];
  }

  line(line) {
    return graphData.html("a", { href: `#L${line}`, "data-line": line }, `line ${line}`);
  }

  link(id, words) {
    return graphData.html("a", { href: this.address(id) || `#L${this.nodes[id].line}`, "data-node": id }, words);
  }

  // What a node is in, outermost first.
  around(node) {
    const titles = [];
    for (let each = this.nodes[node.parent]; each; each = this.nodes[each.parent]) {
      if (each.kind !== "scope" || each.label) titles.unshift(graphData.titleOf(each));
    }
    return titles.length ? ` \u00b7 ${titles.join(" \u203a ")}` : "";
  }

  made(value) {
    const { html, counted } = graphData;
    const [name, type] = this.values[value];
    const users = [...new Set(this.users[value])];
    const links = users.slice(0, NodeInspector.MOST).flatMap((id) => [", ", this.link(id, this.called(this.nodes[id]))]).slice(1);
    const more = users.length > NodeInspector.MOST ? [` and ${users.length - NodeInspector.MOST} more`] : [];
    const used = users.length ? [`${counted(users.length, "user")}: `, ...links, ...more] : ["not used"];
    return this.row(name, [html("code", { class: "t" }, type), html("div", {}, ...used)]);
  }

  called(node) {
    return node.kind === "output" ? `output ${node.label}` : [node.label, ...node.makes.slice(0, 1).map((value) => this.values[value][0])].join(" ");
  }

  item({ value, text, weight }, type) {
    if (weight) return this.weight(weight, type);
    return value === undefined ? graphData.html("code", {}, text) : this.value(value);
  }

  // A value that a node takes: its maker, its type and, for a constant, its contents.
  value(value) {
    const { html } = graphData;
    const [name, type] = this.values[value];
    const maker = this.nodes[this.makers[value]];
    const words = name || maker?.label || "";
    const from = { op: ` from ${maker?.label}`, input: " input" }[maker?.kind] || "";
    return html("div", { class: "i-value" }, html("div", {}, maker ? this.link(maker.id, words) : words, from),
      html("code", { class: "t" }, type), ...this.constant(maker, type));
  }

  // The contents of a constant, beside its type.
  constant(maker, type) {
    const { html } = graphData;
    if (maker?.kind !== "const") return [];
    const { given, attributes } = this.callOf(maker);
    return [...given, ...attributes].filter(([name]) => name !== "name").flatMap(([name, items]) => {
      const parts = items.map((item) => this.item(item, type));
      return name === "val" ? [" ", ...parts] : [html("div", {}, `${name}: `, ...parts)];
    });
  }

  // The facts about a weight; those of its type are left out where the same type is beside them.
  weight([dtype, shape, elements, bytes, file, offset, reason, numbers], type) {
    const { html } = graphData;
    const { words } = this.data;
    const exact = (number) => number.toLocaleString("en");
    const facts = type === `tensor<${dtype}, ${shape}>` ? [] : [["type", dtype], ["shape", shape]];
    if (elements) facts.push(["size", `${exact(elements)} element${elements === 1 ? "" : "s"}, ${sizeOf(bytes)}`]);
    if (elements) facts.push(["in", file ? `${words[file]}, offset ${exact(offset)}` : "the program"]);
    if (reason) facts.push(["not read:", words[reason]]);
    if (numbers) {
      const [least, greatest, mean, zeros, read] = numbers;
      facts.push(["min", least], ["max", greatest], ["mean", mean], ["zeros", `${Number((zeros * 100).toPrecision(3))} %`]);
      if (read < elements) facts.push(["of", `the first ${exact(read)} elements`]);
    } else if (!reason) facts.push(["size", "no elements"]);
    return html("dl", { class: "i-weight" }, ...facts.filter((each) => each[1]).map(([name, fact]) => html("div", {}, html("dt", {}, name), html("dd", {}, fact))));

    function sizeOf(count) {
      const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
      const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(count || 1) / 10)));
      const rounded = power ? ` (${(count / 1024 ** power).toPrecision(3)} ${units[power]})` : "";
      return `${exact(count)} bytes${rounded}`;
    }
  }
}
