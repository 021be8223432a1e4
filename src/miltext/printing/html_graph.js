// drawGraph(element, data, {onSelect, onChoose, colours}) draws the graph of a text, of which `miltext.printing.graph` says more.
const drawGraph = (() => {
  const { svg, html, read, flowsOf, titleOf, nameOf, namesIn, shortName, widthOf, counted, stateOf, differences, signed } = graphData;
  const FEW = 30; // so many boxes are shown at first, if scopes allow it
  const LEGIBLE = 0.8; // the least scale at first
  const HEAD = 30; // the height of a box's own words, on which a click folds it
  const MANY = 300; // not more are unfolded at once

  // ---- one graph on a page

  class Graph {
    constructor(element, data, { onSelect = () => {}, onChoose = () => {}, colours = [] } = {}) {
      Object.assign(this, read(data), { element, onSelect, onChoose, colours });
      this.filter = new GraphFilter(this);
      this.open = new Set();
      this.constants = false;
      this.scale = 1;
      this.chosen = null;
      this.lent = []; // what was unfolded to show what was found last
      this.boxes = new Map();
      this.bar();
      this.listen();
      this.unfoldFirst();
      this.draw();
      this.begin();
    }

    bar() {
      const button = (label, text, act) => {
        const made = html("button", { type: "button", "aria-label": label, title: label }, text);
        made.addEventListener("click", act);
        return made;
      };
      this.search = html("input", { type: "search", autocomplete: "off", spellcheck: "false", "aria-label": "Find in the graph", placeholder: "Find in the graph" });
      this.part = html("select", { "aria-label": "Where to find" }, ...GraphFilter.PARTS.map((part) => html("option", {}, part)));
      this.told = html("output", { class: "g-told" });
      this.shown = html("input", { type: "checkbox" });
      this.all = button("Unfold all", "Unfold", () => this.draw(this.nodes.forEach((node) => this.open.add(node.id))));
      this.view = html("div", { class: "g-view" });
      this.live = html("div", { class: "g-live", role: "status" });
      this.legend = html("div", { class: "g-legend" });
      this.explain = button("Legend", "Legend", () => this.toggleLegend());
      this.explain.setAttribute("aria-expanded", "false");
      this.element.replaceChildren(html("div", { class: "g-bar" },
        this.search, this.part, this.told, html("label", {}, this.shown, " constants"), this.all,
        button("Fold all", "Fold", () => this.foldAll()),
        button("Zoom out", "\u2212", () => this.zoom(1 / 1.25)),
        button("Zoom in", "+", () => this.zoom(1.25)),
        button("Show all of it", "Fit", () => this.fit()), this.explain), this.legend, this.view, this.live);
      this.element.classList.add("g");
    }

    toggleLegend(open = !this.legend.firstChild) {
      this.legend.replaceChildren(...(open ? graphLegend(this.colours) : []));
      this.explain.setAttribute("aria-expanded", String(open));
    }

    // ---- folding

    children(node) {
      const inside = node ? node.inside : this.top;
      return this.constants ? inside : inside.filter((inner) => inner.kind !== "const");
    }

    // Unfolds what holds most operations while there is room; what is about as large beside it is unfolded with it.
    unfoldFirst() {
      let shown = this.top.length;
      let levels = [this.top];
      const most = (level) => Math.max(0, ...level.map((node) => node.operations));
      while (levels.length) {
        levels.sort((one, other) => most(other) - most(one));
        const largest = levels.shift().filter((node, _, level) => node.inside.length && node.operations * 2 >= most(level));
        const more = largest.reduce((sum, node) => sum + this.children(node).length, 0);
        if (shown + more > FEW && shown > 1) continue;
        largest.forEach((node) => this.open.add(node.id));
        shown += more;
        levels = [...levels, ...largest.map((node) => this.children(node))];
      }
    }

    toggle(node, open = !this.open.has(node.id)) {
      if (!node.inside.length) return;
      if (open) this.open.add(node.id);
      else for (let id = node.id; id < node.end; id++) this.open.delete(id);
      this.draw(node);
      this.choose(node);
      this.say(`${titleOf(node)}: ${open ? `unfolded, ${counted(this.children(node).length, "node")}` : "folded"}`);
    }

    foldAll() {
      this.open.clear();
      this.chosen = null;
      this.top.filter((node) => node.kind === "function").forEach((node) => this.open.add(node.id));
      this.draw();
      this.view.scrollTo(0, 0);
    }

    // ---- drawing

    // Draws what is unfolded; a node that was shown before stays where it was on the screen.
    draw(still = null) {
      const before = still && this.boxes.get(still.id) && this.placeOf(this.boxes.get(still.id));
      const as = [];
      this.boxes.clear();
      const root = { inside: this.children(null).map((node) => this.box(node, as)) };
      this.led = flowsOf(this, as, this.constants);
      layoutGraph(root, this.led);
      this.paint(root);
      const countAll = this.nodes.filter((node) => node.kind !== "const" || this.constants).length;
      this.all.disabled = countAll > MANY;
      this.all.title = countAll > MANY ? `Unfold all: ${countAll} nodes are too many to be shown at once` : "Unfold all";
      const shown = before && this.boxes.get(still.id); // not a constant that is hidden now
      if (shown) {
        const after = this.placeOf(shown);
        this.view.scrollBy(after.x - before.x, after.y - before.y);
      }
      if (this.chosen && !this.boxes.has(this.chosen.id)) this.chosen = null;
      this.mark();
    }

    // Returns the box of a node, with those in it if it is unfolded; `as` has the node that each one is shown as.
    box(node, as, prefix = "") {
      const inside = this.open.has(node.id) ? this.children(node) : [];
      const [title, name] = [signed(node, shortName(titleOf(node), prefix)), shortName(nameOf(node, this.values), prefix)];
      const box = { node, title, name, inside: [], titleWidth: widthOf(title) + widthOf(name) + 40 };
      const counting = node.inside.length ? widthOf(this.filter.counted(name, node.operations)) : 0;
      Object.assign(box, { width: Math.max(64, widthOf(title), widthOf(name), counting) + 20, height: 40 });
      for (let id = node.id; id < node.end; id++) as[id] = node.id;
      box.inside = inside.map((inner) => this.box(inner, as, (node.kind === "scope" && node.label) || prefix));
      this.boxes.set(node.id, box);
      return box;
    }

    paint(root) {
      const [around, lines, nodes, heads] = ["false", "true", "false", "true"].map((hidden) => svg("g", { "aria-hidden": hidden }));
      const visit = (box, left, top) => {
        Object.assign(box, { left, top });
        const corner = { transform: `translate(${left} ${top})` };
        for (const line of box.lines) lines.append(this.line(line, corner));
        if (box.node) (box.inside.length ? around : nodes).append(this.shape(box, corner));
        if (box.inside.length && box.node) heads.append(this.head(box, corner));
        box.inside.forEach((inner) => visit(inner, left + inner.x, top + inner.y));
      };
      visit(root, 0, 0);
      const label = `Graph of ${counted(this.nodes.filter((node) => node.kind === "op").length, "operation")}. Arrow keys follow values, Enter unfolds or inspects, Escape folds.`;
      this.size = [root.width, root.height];
      this.picture = svg("svg", { role: "group", "aria-label": label, viewBox: `0 0 ${root.width} ${root.height}` }, around, lines, nodes, heads);
      this.view.replaceChildren(root.inside.length ? this.picture : html("p", {}, "The text has no operations."));
      this.resize();
    }

    line({ flow, d, head, label, x, y }, corner) {
      const made = label === undefined
        ? svg("path", { ...corner, d, class: head ? "g-tip" : "g-line" })
        : svg("text", { ...corner, x, y: y + 4, class: "g-type" }, label, svg("title", {}, flow.told));
      flow.shapes.push(made);
      return made;
    }

    shape(box, corner) {
      const { node, width, height, title, name } = box;
      const [folds, open] = [node.inside.length > 0, box.inside.length > 0];
      const state = stateOf(node);
      const kind = `g-node g-${node.kind}${folds ? " g-folds" : ""}${open ? " g-open" : ""}${state ? ` g-${state}` : ""}`;
      box.shape = svg("g", { ...corner, class: kind, "data-id": node.id, role: "button", tabindex: -1,
        "aria-label": this.spoken(box), "aria-expanded": folds ? String(open) : null },
      svg("title", {}, this.hint(node)),
      svg("rect", { width, height, rx: node.kind === "input" || node.kind === "output" ? 18 : 6 }));
      if (!open) {
        box.shape.append(svg("text", { x: width / 2, y: 17, class: "g-title" }, folds ? `\u25b8 ${title}` : title),
          box.words = svg("text", { x: width / 2, y: 32, class: "g-name" }, name));
      }
      return box.shape;
    }

    // What is at the top of a box that is unfolded, over the lines that lead into it.
    head({ width, title, name }, corner) {
      return svg("g", { ...corner, class: "g-head" }, svg("text", { x: 12, y: 19, class: "g-title" }, `\u25be ${title}`),
        svg("text", { x: width - 12, y: 19, class: "g-name" }, name));
    }

    hint(node) {
      const made = node.makes.map((value) => `${this.values[value][0]}: ${this.values[value][1]}`);
      return [`${titleOf(node)}, line ${node.line}`, ...made, ...(node.inside.length ? [counted(node.operations, "operation")] : []), ...[differences(node)].filter(Boolean)].join("\n");
    }

    spoken({ node }) {
      const from = [...new Set(node.takes.map((value) => this.nodes[this.makers[value]]))].filter((each) => each && each.kind !== "const");
      const to = [...new Set(node.makes.flatMap((value) => this.users[value]))].map((id) => this.nodes[id]);
      return this.hint(node).replaceAll("\n", ", ")
        + (from.length ? `, from ${namesIn(from, this.values)}` : "") + (to.length ? `, to ${namesIn(to, this.values)}` : "");
    }

    // ---- choosing

    choose(node, { focus = true, tell = false } = {}) {
      this.chosen = node;
      this.mark();
      const { shape } = this.boxes.get(node.id);
      if (focus) shape.focus({ preventScroll: true });
      this.bring(this.boxes.get(node.id));
      if (tell) this.onSelect(node.line);
    }

    mark() {
      const chosen = this.chosen ? this.boxes.get(this.chosen.id) : null;
      for (const box of this.boxes.values()) {
        box.shape.classList.toggle("g-chosen", box === chosen);
        box.shape.setAttribute("tabindex", -1);
        this.filter.mark(box);
      }
      for (const flow of this.led) {
        const near = chosen && (flow.from === chosen || flow.to.includes(chosen));
        flow.shapes.forEach((shape) => shape.classList.toggle("g-near", Boolean(near)));
      }
      (chosen || this.boxes.values().next().value)?.shape.setAttribute("tabindex", 0);
    }

    say(words) {
      this.live.textContent = words;
    }

    // Shows a node, and unfolds what it is in; gives what was folded.
    reveal(node, how) {
      this.constants ||= this.shown.checked = node.kind === "const";
      const unfolded = [];
      for (let around = this.nodes[node.parent]; around; around = this.nodes[around.parent]) {
        if (!this.open.has(around.id)) unfolded.push(around.id);
      }
      unfolded.forEach((id) => this.open.add(id));
      if (unfolded.length || !this.boxes.has(node.id)) this.draw();
      this.choose(node, how);
      return unfolded;
    }

    // Shows what a line of the text says.
    select(line) {
      const said = (node) => node.kind !== "scope" && node.line <= line && (node.kind === "op" || node.kind === "const" || node.line === line);
      const node = this.nodes.filter(said).reduce((best, each) => (best && best.line > each.line ? best : each), null);
      return this.show(node);
    }

    // Shows a node; for a constant that is hidden, what uses it.
    show(node) {
      while (node?.kind === "const" && !this.constants) node = this.nodes[this.users[node.makes[0]]?.[0]];
      if (node) this.reveal(node, { focus: false });
      return Boolean(node);
    }

    find = () => this.filter.find(this.search.value, this.part.value, this.constants);

    step(by) {
      const node = this.find() && this.filter.step(by);
      if (node) {
        this.lent.forEach((id) => this.open.delete(id));
        this.lent = this.reveal(node, { focus: false });
      } else this.mark();
      this.told.textContent = this.filter.told();
    }

    // ---- where things are: panning is scrolling, so that it works with any device

    placeOf(box) {
      return { x: box.left * this.scale, y: box.top * this.scale };
    }

    resize() {
      this.picture.setAttribute("width", this.size[0] * this.scale);
      this.picture.setAttribute("height", this.size[1] * this.scale);
    }

    // Makes the picture as wide as the view if it stays legible, and shows where the values come in.
    begin() {
      this.scale = Math.min(1, Math.max(LEGIBLE, (this.view.clientWidth - 8) / this.size[0]));
      this.resize();
      const first = [...this.boxes.values()].find((box) => !box.inside.length);
      if (first) this.bring(first);
    }

    zoom(by, x = this.view.clientWidth / 2, y = this.view.clientHeight / 2) {
      const before = this.scale;
      this.scale = Math.min(3, Math.max(0.05, before * by));
      const factor = this.scale / before;
      const [left, top] = [(this.view.scrollLeft + x) * factor - x, (this.view.scrollTop + y) * factor - y];
      this.resize();
      this.view.scrollTo(left, top);
    }

    fit() {
      const space = Math.min((this.view.clientWidth - 8) / this.size[0], (this.view.clientHeight - 8) / this.size[1]);
      this.zoom(Math.min(1, space) / this.scale);
    }

    bring(box) {
      const { clientWidth: wide, clientHeight: high, scrollLeft, scrollTop } = this.view;
      const [left, top, right, bottom] = [box.left, box.top, box.left + box.width, box.top + Math.min(box.height, 60)].map((each) => each * this.scale);
      if (left < scrollLeft || right > scrollLeft + wide) this.view.scrollLeft = (left + right - wide) / 2;
      if (top < scrollTop || bottom > scrollTop + high) this.view.scrollTop = (top + bottom - high) / 2;
    }

    // ---- pointer and keys

    listen() {
      const nodeAt = (event) => this.nodes[event.target.closest?.("[data-id]")?.dataset.id];
      let drag = null;
      this.view.addEventListener("pointerdown", (event) => {
        drag = event.pointerType === "mouse" && event.button === 0 ? { x: event.clientX, y: event.clientY, moved: false } : null;
      });
      this.view.addEventListener("pointermove", (event) => {
        if (!drag || !event.buttons) return;
        drag.moved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
        if (!drag.moved) return;
        this.view.scrollBy(drag.x - event.clientX, drag.y - event.clientY);
        Object.assign(drag, { x: event.clientX, y: event.clientY });
      });
      this.view.addEventListener("click", (event) => {
        const node = nodeAt(event);
        const inHead = () => event.clientY - this.boxes.get(node.id).shape.getBoundingClientRect().top < HEAD * this.scale;
        if (node && !drag?.moved && (!this.open.has(node.id) || !node.inside.length || inHead())) this.act(node);
      });
      this.view.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const place = this.view.getBoundingClientRect();
        this.zoom(2 ** (-event.deltaY / 300), event.clientX - place.left, event.clientY - place.top);
      }, { passive: false });
      this.view.addEventListener("keydown", (event) => {
        const node = nodeAt(event);
        if (node && !event.ctrlKey && !event.metaKey && !event.altKey && this.key(event.key, node)) {
          event.preventDefault();
          event.stopPropagation();
        }
      });
      this.search.addEventListener("input", () => this.step(1));
      this.search.addEventListener("keydown", (event) => {
        if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      });
      this.part.addEventListener("change", () => this.step(1));
      this.shown.addEventListener("change", () => {
        this.constants = this.shown.checked;
        this.find();
        this.draw(this.chosen);
        this.told.textContent = this.filter.told();
      });
    }

    act(node) {
      this.lent = [];
      if (node.inside.length) this.toggle(node);
      else this.choose(node, { tell: true });
      if (GraphFilter.KINDS.includes(node.kind)) this.onChoose(node.id);
    }

    // Answers a key on a node; false where it means nothing there.
    key(key, node) {
      const keys = {
        Enter: () => this.act(node),
        " ": () => this.act(node),
        Escape: () => this.foldAround(node),
        ArrowDown: () => this.go(node, 0, 1),
        ArrowUp: () => this.go(node, 0, -1),
        ArrowRight: () => this.go(node, 1, 0),
        ArrowLeft: () => this.go(node, -1, 0),
        "+": () => this.zoom(1.25),
        "-": () => this.zoom(1 / 1.25),
        0: () => this.fit(),
        "/": () => this.search.focus(),
      };
      return keys[key] ? keys[key]() !== false : false;
    }

    foldAround(node) {
      const folded = this.open.has(node.id) ? node : this.nodes[node.parent];
      if (!folded) return false;
      return this.toggle(folded, false);
    }

    // Goes along the values, up or down, or else to the nearest box on that side.
    go(node, right, down) {
      const here = this.boxes.get(node.id);
      const led = down > 0 ? this.led.filter((flow) => flow.from === here).flatMap((flow) => flow.to)
        : this.led.filter((flow) => down && flow.to.includes(here)).map((flow) => flow.from);
      const middle = (box) => [box.left + box.width / 2, box.top + Math.min(box.height, 40) / 2];
      const far = (box) => {
        const [x, y] = middle(box).map((each, at) => each - middle(here)[at]);
        const ahead = x * right + y * down;
        return ahead > 1 ? ahead + 3 * Math.abs(x * down + y * right) : Infinity;
      };
      const candidates = led.length ? led : [...this.boxes.values()].filter((box) => box !== here && far(box) < Infinity);
      const next = candidates.sort((one, other) => far(one) - far(other))[0];
      if (next) this.choose(next.node);
    }
  }

  return (element, data, options) => {
    const graph = new Graph(element, data, options);
    return { select: (line) => graph.select(line), show: (id) => graph.show(graph.nodes[id]), find: (words) => { graph.search.value = words; graph.step(1); return graph.filter.hits.length; },
      focus: () => graph.view.querySelector("[tabindex='0']")?.focus() };
  };
})();
