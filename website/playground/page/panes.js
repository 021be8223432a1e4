// What is on the right: a pane for each question, made of its answer.
import { Reading } from "./editor.js";

// What each pane is asked, what it says before, and how its text is shown.
export const PANES = {
  findings: {},
  inferred: { label: "Inferred text", isMil: true, about: "All types of outputs that follow, inferred anew: `miltext infer --all`." },
  formatted: { label: "Formatted text", isMil: true, about: "Canonical layout, comments kept: `miltext fmt`." },
  program: { label: "The Program as protobuf text", isMil: false, about: "The message in the model file: `miltext parse --to txtpb`." },
  graph: { label: "The graph of the operations" },
};

export function element(name, properties = {}, ...children) {
  const { dataset, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}

// Words with `code` in them.
export function worded(text) {
  return text.split(/`([^`]+)`/).map((part, at) => (at % 2 ? element("code", {}, part) : part));
}

export function notes(answer) {
  return (answer.notes ?? []).map((note) => element("p", { className: "note" }, ...worded(note)));
}

// A list of findings. `show(point, point)` goes to a place, `apply(edit)` makes an edit, `page` is that of the codes.
export function findingsList(findings, { show, apply, page }) {
  return element("ol", { className: "findings" }, ...findings.map((each) => finding(each, { show, apply, page })));
}

function finding(found, { show, apply, page }) {
  const code = element("a", { href: `${page}#${found.code.toLowerCase()}`, target: "_blank", title: found.title }, found.code);
  const parts = [element("p", { className: "head" }, element("b", {}, found.severity), " ", code, " ", ...at(found, show))];
  parts.push(element("p", { className: "message" }, ...worded(found.message)));
  for (const note of found.notes) parts.push(element("p", { className: "aside" }, "note: ", ...worded(note.message), " ", ...at(note, show)));
  if (found.edit) {
    const [put, isSure] = [found.suggestion.trim(), found.applicability === "safe"];
    const says = put ? `${isSure ? "Apply" : "Try"}: ` : `${isSure ? "Apply" : "Try"}: remove this`;
    const shown = put ? [element("code", {}, put.length > 60 ? `${put.slice(0, 60)}…` : put)] : [];
    parts.push(element("button", { type: "button", className: "fix", onclick: () => apply(found.edit) }, says, ...shown));
  }
  return element("li", { className: found.severity }, ...parts);
}

function at({ start, end }, show) {
  if (!start) return [];
  const place = element("button", { type: "button", className: "place", title: "Go there" }, `${start.line}:${start.column}`);
  place.onclick = () => show(start.unit, end.unit);
  return [place];
}

// A pane with a text to read; `take(text)` puts it into the editor. A text that follows another keeps its place in sight.
export function textPane(pane, answer, { label, isMil, about }, take) {
  const old = pane.reading?.label === label && pane.contains(pane.reading.box) ? pane.reading : null;
  const reading = old ?? (pane.reading = new Reading(label, isMil));
  reading.text = answer.text;
  const tools = [element("button", { type: "button", onclick: (event) => copy(answer.text, event.target) }, "Copy")];
  if (isMil) tools.push(element("button", { type: "button", onclick: () => take(answer.text) }, "Put into the editor"));
  const bar = element("div", { className: "bar" }, element("p", {}, ...worded(about)), ...tools);
  if (old) while (pane.firstChild !== old.box) pane.firstChild.remove();
  else pane.replaceChildren(reading.box);
  reading.box.before(bar, ...notes(answer));
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "The browser forbids it";
  }
}

// The graph, which `graph.js` draws.
export function graphPane(pane, answer, onLine) {
  const box = element("div", { className: "graph" });
  pane.replaceChildren(...notes(answer), box);
  return drawGraph(box, answer.graph, { onSelect: onLine });
}
