// The page of a text; its data is what `miltext.printing.graph` makes, read when it is first asked for.
let read = null;
const data = () => (read ||= JSON.parse(document.getElementById("data").textContent));
const main = document.querySelector("main");
const hint = document.getElementById("hint");
const find = document.getElementById("find");
const found = document.getElementById("found");
const fold = document.getElementById("fold");
const number = (element) => Number((element.hash || `#${element.id}`).slice(2));
const valueAt = (event) => event.target.closest(".v, main a:not([data-n])");
document.getElementById("tools").hidden = false;

function describe([name, type, line, maker, uses]) {
  const lines = [...new Set(uses)];
  const shown = lines.slice(0, 12).join(", ") + (lines.length > 12 ? ", \u2026" : "");
  const count = uses.length === 1 ? "1 use" : `${uses.length} uses`;
  return `${name}: ${type}\n${maker}, line ${line}\n${uses.length ? `${count}: line ${shown}` : "no use"}`;
}

main.addEventListener("mouseover", (event) => {
  const value = valueAt(event);
  hint.hidden = !value;
  if (!value) return;
  hint.textContent = describe(data().values[number(value)]);
  const place = value.getBoundingClientRect();
  const below = place.bottom + hint.offsetHeight + 12 < innerHeight;
  hint.style.left = `${Math.max(8, Math.min(place.left, innerWidth - hint.offsetWidth - 8))}px`;
  hint.style.top = `${below ? place.bottom + 6 : place.top - hint.offsetHeight - 6}px`;
});

main.addEventListener("click", (event) => {
  const value = valueAt(event);
  if (!value) return;
  document.querySelectorAll(".same").forEach((each) => each.classList.remove("same"));
  const chosen = number(value);
  document.querySelectorAll(`#v${chosen}, a[href="#v${chosen}"]`).forEach((each) => each.classList.add("same"));
  if (value.matches("a")) unfold(document.getElementById(`v${chosen}`));
  else event.preventDefault(); // a definition in a block's first line does not fold it
  if (section.hidden) return;
  graph.select(data().values[chosen][2]);
  if (inspector?.shown != null) inspect(inspector.makers[chosen]);
});

// ---- lines: a click picks one, one with shift those up to it, and so does #L12 or #L12-L20

let picked = [];
let anchor = 0; // the line that others are picked up to

function pick(first, last) {
  picked.forEach((line) => line.classList.remove("picked"));
  picked = [];
  anchor = first;
  for (let at = Math.min(first, last); at <= Math.max(first, last); at++) {
    const line = document.getElementById(`L${at}`);
    if (!line) break;
    line.classList.add("picked");
    picked.push(line);
  }
  return picked[0];
}

function go(line) {
  unfold(line);
  line.scrollIntoView({ block: "center" });
}

function follow() {
  const [, first, last = first] = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash) || [];
  const line = first && pick(Number(first), Number(last));
  if (line) go(line);
  else if (!/^(#[Lv]\d.*|)$/.test(location.hash)) showNamed();
}

main.addEventListener("click", (event) => {
  const link = event.target.closest("[data-n]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const at = Number(link.dataset.n);
  const from = event.shiftKey && picked.length ? anchor : at;
  pick(from, at);
  history.replaceState(null, "", from === at ? `#L${at}` : `#L${Math.min(from, at)}-L${Math.max(from, at)}`);
  if (!section.hidden) graph.select(at);
});

// ---- the outline, whose links lead to lines by themselves

const outline = document.getElementById("outline");
const jump = document.getElementById("jump");

outline?.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || section.hidden) return;
  graph.show(Number(link.dataset.node));
});

function goToOutline() {
  outline?.scrollIntoView();
  outline?.focus({ preventScroll: true });
}

jump?.addEventListener("click", goToOutline);
addEventListener("hashchange", follow);
addEventListener("beforeprint", () => main.querySelectorAll("details").forEach((block) => { block.open = true; }));

// ---- the graph and its inspector, which are made when they are first shown

const section = document.getElementById("graph");
const show = document.getElementById("show");
const panel = document.getElementById("inspector");
const COLOURS = [["k", "func", "keyword or opset"], ["t", "fp16", "type"], ["o", "conv", "operation"], ["v", "x", "value"],
  ["m", "0.5", "number"], ["s", '"same"', "string"]];
let graph = null;
let inspector = null;

const goTo = (line) => go(pick(line, line));

function inspecting() {
  return (inspector ||= new NodeInspector(panel, data(), {
    go: goTo,
    show: (id) => { inspect(id); goTo(data().nodes[id][3]); },
    onClose: () => { document.documentElement.classList.remove("with-inspector"); if (!section.hidden) graph.focus(); },
  }));
}

// Shows the inspector of a node, which leaves less of the graph, and puts it into the address.
function inspect(id) {
  inspecting().open(id);
  document.documentElement.classList.add("with-inspector");
  graph.show(id);
  history.replaceState(null, "", inspector.address(id) || `#L${data().nodes[id][3]}`);
}

// Shows the value that the address names, if there is one.
function showNamed() {
  const id = inspecting().named(location.hash);
  if (id === undefined) return;
  if (section.hidden) toggleGraph();
  inspect(id);
  graph.focus();
  goTo(data().nodes[id][3]);
}

function size() {
  const header = document.querySelector("header");
  header.classList.toggle("tall", header.scrollHeight > innerHeight / 4);
  const high = header.offsetHeight;
  section.style.top = matchMedia("(max-width: 800px)").matches ? "auto" : `${header.matches(".tall") ? 0 : high}px`;
}

function toggleGraph() {
  section.hidden = !section.hidden;
  show.setAttribute("aria-expanded", String(!section.hidden));
  document.documentElement.classList.toggle("with-graph", !section.hidden);
  if (section.hidden) {
    inspector?.close();
    show.focus();
    return;
  }
  size();
  graph ||= drawGraph(document.getElementById("drawing"), data(), { onSelect: goTo, onChoose: inspect, colours: COLOURS });
  if (picked.length) graph.select(Number(picked[0].id.slice(1)));
  graph.focus();
}

show.addEventListener("click", toggleGraph);
addEventListener("resize", size);
section.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.target.value) toggleGraph(); // with words, it empties the field
});
addEventListener("keydown", (event) => { // before the graph, in which it folds
  if (event.key !== "Escape" || inspector?.shown == null || (event.target.matches("input") && event.target.value)) return;
  event.stopPropagation();
  inspector.close();
}, true);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  if (event.key === "/") find.select();
  else if (event.key === "g") toggleGraph();
  else if (event.key === "o") goToOutline();
  else return;
  event.preventDefault();
});

function unfold(element) {
  for (let outer = element.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
}

fold.addEventListener("click", () => {
  const blocks = [...main.querySelectorAll("details details")];
  const open = !blocks.some((block) => block.open);
  blocks.forEach((block) => { block.open = open; });
  nameFold();
});

let naming = 0;

function nameFold() {
  fold.textContent = main.querySelector("details details[open]") ? "Fold all" : "Unfold all";
}

main.addEventListener("toggle", () => {
  cancelAnimationFrame(naming); // once for all that are folded together
  naming = requestAnimationFrame(nameFold);
}, true);

let texts = null; // each line's element and its text in lower case, made when first looked for
let hits = [];
let current = -1;

function search() {
  texts ||= [...document.querySelectorAll(".l")].map((line) => [line, line.textContent.toLowerCase()]);
  hits.forEach((line) => line.classList.remove("hit", "now"));
  const words = find.value.toLowerCase();
  hits = words ? texts.filter(([, text]) => text.includes(words)).map(([line]) => line) : [];
  hits.forEach((line) => line.classList.add("hit"));
  current = -1;
  found.textContent = words ? `${hits.length} lines` : "";
  if (hits.length) step(1);
}

function step(by) {
  if (!hits.length) return;
  hits[current]?.classList.remove("now");
  current = (current + by + hits.length) % hits.length;
  hits[current].classList.add("now");
  unfold(hits[current]);
  hits[current].scrollIntoView({ block: "center" });
  found.textContent = `${current + 1} of ${hits.length}`;
}

find.addEventListener("input", search);
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
});

size();
follow();
