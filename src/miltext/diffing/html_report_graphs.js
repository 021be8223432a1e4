// GraphPair shows the graphs of both programs beside each other, old and new; `miltext.diffing.html_graphs` says what it
// reads. They are drawn when they are first shown. A node leads to its entry, or else to its row, and to its partner in the
// other graph; an entry leads to its nodes. On a narrow screen, one of the two is shown.
class GraphPair {
  static COLOURS = [["g-plus", "+ conv", "added"], ["g-minus", "- conv", "removed"], ["g-change", "~ conv", "changed; of a scope: various differences"],
    ["g-move", "> conv", "moved"], ["g-name", "= conv", "renamed"], ["g-follow", "\u21b3 conv", "differences that follow from others"]];

  constructor(section, button, goTo) {
    this.data = [...document.querySelectorAll("script.graph")].map((each) => each.id.replace("-graph", ""));
    Object.assign(this, { section, button, goTo, name: this.data[0], models: new Map() });
    if (!this.data.length) return;
    button.hidden = false;
    button.addEventListener("click", () => this.toggle());
    section.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.target.value) this.toggle(false);
    });
    this.linkEntries();
  }

  // ---- from entries to nodes

  linkEntries() {
    for (const lines of document.querySelectorAll("#report [id] small")) {
      const link = graphData.html("a", { href: "#graphs", class: "to-graph" }, "graph");
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.showEntry(lines);
      });
      lines.append(" ", link);
    }
  }

  // Shows the nodes of an entry: its first lines of both texts are those of its operation.
  showEntry(lines) {
    const links = [...lines.querySelectorAll("a:not(.to-graph)")];
    this.name = links[0].hash.slice(1).split("-")[0];
    const found = ["-", "+"].map((sign) => Number(links.find((link) => link.textContent.startsWith(sign))?.textContent.slice(1)));
    this.section.dataset.side = found[1] ? 1 : 0;
    this.toggle(true);
    this.select(found);
    this.say(lines.closest("li, tr"));
  }

  // Shows the nodes of these lines of the two texts; a graph that is hidden shows its node when it is drawn.
  select(lines) {
    const model = this.models.get(this.name);
    lines.forEach((line, side) => {
      if (!line) return;
      if (model.graphs[side]) model.graphs[side].select(line);
      else model.wanted[side] = line;
    });
  }

  key(target) {
    if (!this.data.length) return;
    const lines = target.closest("#report [id] small");
    if (lines) this.showEntry(lines);
    else this.toggle();
  }

  // ---- the section

  toggle(open = this.section.hidden) {
    this.section.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    document.documentElement.classList.toggle("with-graphs", open);
    if (open) this.showModel();
    else this.button.focus();
  }

  showModel() {
    if (!this.models.has(this.name)) this.models.set(this.name, this.made());
    const { element } = this.models.get(this.name);
    if (this.section.firstChild !== element) this.section.replaceChildren(element);
    this.draw();
  }

  made() {
    const { html } = graphData;
    const { types, sides } = JSON.parse(document.getElementById(`${this.name}-graph`).textContent);
    const names = [...document.querySelectorAll("h1 span")].map((each) => each.textContent);
    const close = html("button", { type: "button", "aria-label": "Close the graphs", title: "Close (Escape)" }, "\u00d7");
    const pick = ["Old", "New"].map((word, side) => {
      const button = html("button", { type: "button", class: "side", "aria-pressed": "false" }, word);
      button.addEventListener("click", () => {
        this.section.dataset.side = side;
        this.draw();
      });
      return button;
    });
    const models = html("select", { "aria-label": "Model" }, ...this.data.map((name) => html("option", { value: name }, this.titleOf(name))));
    models.value = this.name;
    models.addEventListener("change", () => {
      this.name = models.value;
      this.showModel();
    });
    const parts = names.map((name, side) => html("div", { class: "graph-side" }, html("h3", {}, `${side ? "new" : "old"}: ${name}`), html("div", { class: "drawing" })));
    close.addEventListener("click", () => this.toggle(false));
    const told = html("output", {});
    const bar = html("div", { class: "graphs-bar" }, ...pick, ...(this.data.length > 1 ? [models] : []), told, close);
    return { element: html("div", { class: "graphs" }, bar, html("div", { class: "graph-pair" }, ...parts)), parts, pick, models, told, graphs: [], wanted: [],
      data: sides.map(({ values, nodes }) => ({ nodes, values: values.map(([name, type]) => [name, types[type]]) })) };
  }

  titleOf = (name) => document.getElementById(name).previousElementSibling?.matches("h2") ? document.getElementById(name).previousElementSibling.textContent : name;

  // Draws the graphs that are to be seen: a hidden one has no size.
  draw() {
    const model = this.models.get(this.name);
    model.models.value = this.name;
    model.pick.forEach((button, side) => button.setAttribute("aria-pressed", String(Number(this.section.dataset.side) === side)));
    model.parts.forEach((part, side) => {
      if (model.graphs[side] || !part.offsetWidth) return;
      model.graphs[side] = drawGraph(part.querySelector(".drawing"), model.data[side], { onSelect: (line) => this.chosen(side, line), colours: GraphPair.COLOURS });
      if (model.wanted[side]) model.graphs[side].select(model.wanted[side]);
    });
  }

  say(entry) {
    this.models.get(this.name).told.textContent = entry?.querySelector("span, td")?.textContent || "";
  }

  // ---- from nodes to entries

  // Gives the row of each line of the two texts.
  rows() {
    const model = this.models.get(this.name);
    if (!model.rows) {
      model.rows = [new Map(), new Map()];
      for (const row of document.querySelectorAll(`#${this.name} :is(.row, .both)`)) this.numbersOf(row).forEach((line, side) => line && model.rows[side].set(line, row));
    }
    return model.rows;
  }

  numbersOf(row) {
    if (row.matches(".row")) return [1, 2].map((at) => Number(row.children[at].dataset.n || 0));
    const [old, fresh = old] = row.dataset.n.split(" ").map(Number);
    return [old, fresh];
  }

  chosen(side, line) {
    const row = this.rows()[side].get(line);
    const entry = row?.querySelector(":scope > a")?.hash.slice(1);
    if (!row) return;
    this.goTo(entry || row.id);
    const told = entry && document.getElementById(entry);
    this.say(told);
    const partner = told ? Number([...told.querySelectorAll("small a")].find((link) => link.textContent.startsWith(side ? "-" : "+"))?.textContent.slice(1) || 0) : 0;
    const lines = [0, 0];
    lines[1 - side] = this.numbersOf(row)[1 - side] || partner;
    this.select(lines);
  }
}
