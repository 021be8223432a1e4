// The page: an edit asks for findings, then for the pane that is shown.
import { Editor } from "./editor.js";
import examples from "./examples.json";
import { chosen, contents, dropped } from "./files.js";
import { fromFragment, linkTo, TooLarge } from "./link.js";
import { element, findingsList, graphPane, notes, PANES, textPane, worded } from "./panes.js";
import { SUPERSEDED, Work } from "./work.js";

const KEPT = "miltext-playground-text";
const PAUSE = 120; // ms without an edit before a text is checked
const SLOW = 400; // ms before it is told that something is computed
const BUSY = {
  hello: "Starting Python…",
  findings: "Checking…",
  opened: "Reading the files…",
  mended: "Applying what is certain…",
};
const by = (id) => document.getElementById(id);
const tabs = [...by("tabs").children];
const codes = new URL("{codes}", document.baseURI).href;
const hooks = { show: (from, to) => editor.show(from, to), apply: (edit) => !isStale && editor.apply(edit), page: codes };

let active = "findings";
let isStale = true; // whether the text was edited after what is shown was asked for
let took = 0; // ms that the last check took
let timer = 0;
let last = null; // the last findings; null until Python answered
let linked = null; // the text of the link in the address bar
let telling = 0;

const editor = new Editor(by("editor"), "MIL text", edited);
const work = new Work(new URL("./worker.js", import.meta.url), busy);

// ---- an edit and its answers

function edited() {
  isStale = true;
  document.body.dataset.state = "stale";
  clearTimeout(timer);
  timer = setTimeout(refresh, Math.min(PAUSE + took / 2, 1500));
}

async function refresh() {
  const text = editor.text;
  if (text !== linked) {
    keep(text);
    forgetLink();
  }
  const example = examples.findIndex((each) => each.text === text);
  by("examples").value = example < 0 ? "" : String(example);
  work.drop("pane");
  work.drop("mended");
  const started = performance.now();
  await answered(work.ask("findings", text), (answer) => {
    took = last ? performance.now() - started : 0; // the first waited for Python, too
    isStale = editor.text !== text;
    last = answer;
    editor.underline(answer.findings);
    by("tab-findings").textContent = answer.total ? `Findings ${answer.total}` : "Findings";
    show();
  });
}

// Hands an answer on, unless a newer question took its place; tells what failed.
async function answered(question, use) {
  try {
    const answer = await question;
    if (answer === SUPERSEDED) return;
    if (by("notice").dataset.kind === "failure") tell(); // it is over
    use(answer);
  } catch (failure) {
    const says = "The text is as it was, and an edit tries again. If it fails again, please report it, with the text.";
    tell(`This failed: ${failure.message}. ${says}`);
    by("notice").dataset.kind = "failure";
    if (document.body.dataset.state === "computing") by("pane").replaceChildren();
    document.body.dataset.state = "failed";
  }
}

function busy(question) {
  clearTimeout(telling);
  const says = () => (question ? (BUSY[question] ?? "Computing…") : last ? summary(last) : "");
  telling = setTimeout(() => (by("status").textContent = says()), question ? SLOW : 0); // by then an answer is taken
  by("right").setAttribute("aria-busy", String(question !== null));
}

function summary({ errors, warnings, noted, findings }) {
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  if (!editor.text.trim()) return "Nothing to check: type, choose an example, or drop a file.";
  if (!findings.length) return "No problems found.";
  const counts = [errors && count(errors, "error"), warnings && count(warnings, "warning"), noted && count(noted, "note")];
  return counts.filter(Boolean).join(", ");
}

// ---- panes

async function show() {
  const pane = by("pane");
  if (active === "findings") {
    if (last) findingsPane(pane);
    return done();
  }
  const text = editor.text;
  if (!text.trim()) {
    pane.replaceChildren(quiet("There is no text yet."));
    return done();
  }
  if (pane.dataset.pane !== active) pane.replaceChildren(quiet("Computing…"));
  const wanted = active;
  document.body.dataset.state = "computing";
  await answered(work.ask(wanted, text, "pane"), (answer) => {
    fill(pane, wanted, answer);
    done();
  });
}

function quiet(text) {
  return element("p", { className: "quiet" }, text);
}

function done() {
  by("pane").dataset.pane = active;
  if (!isStale) document.body.dataset.state = "done";
}

function fill(pane, wanted, answer) {
  if (answer.findings) {
    const says = element("p", { className: "note" }, "This cannot be shown while the text has these errors:");
    pane.replaceChildren(says, findingsList(answer.findings, hooks));
  } else if (wanted === "graph") graphPane(pane, answer, (line) => editor.showLine(line));
  else textPane(pane, answer, PANES[wanted], (text) => editor.replace(text));
}

function findingsPane(pane) {
  const shown = notes(last);
  const more = last.total - last.findings.length;
  if (last.certain) {
    const says = `Apply what is certain (${last.certain})`;
    shown.push(element("div", { className: "bar" }, element("button", { type: "button", id: "mend", onclick: mend }, says)));
  }
  shown.push(last.findings.length ? findingsList(last.findings, hooks) : quiet(summary(last)));
  if (more > 0) shown.push(quiet(`${more} more are not listed.`));
  const focused = [...pane.querySelectorAll("button")].indexOf(document.activeElement);
  pane.replaceChildren(...shown);
  if (focused >= 0) ([...pane.querySelectorAll("button")][focused] ?? pane).focus(); // where one was in the list
}

function mend() {
  const text = editor.text;
  answered(work.ask("mended", text), (answer) => editor.text === text && editor.mend(answer.text));
}

function select(pane, focus) {
  active = pane;
  for (const tab of tabs) {
    const isActive = tab.dataset.pane === pane;
    tab.setAttribute("aria-selected", String(isActive));
    tab.tabIndex = isActive ? 0 : -1;
    if (isActive) by("pane").setAttribute("aria-labelledby", tab.id);
    if (isActive && focus) tab.focus();
  }
  work.drop("pane");
  if (last) show();
  else if (document.body.dataset.state === "failed") refresh();
}

function onTabKey(event) {
  const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const at = tabs.findIndex((tab) => tab.dataset.pane === active);
  const next = Number.isFinite(step) ? (at + step + tabs.length) % tabs.length : step < 0 ? 0 : tabs.length - 1;
  select(tabs[next].dataset.pane, true);
}

// ---- texts from elsewhere

function keep(text) {
  try {
    sessionStorage.setItem(KEPT, text);
  } catch {} // a large one, or a browser that keeps nothing: a reload begins anew
}

function kept() {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

async function openFiles(files) {
  if (!files.length) return tell("There are no files in this.");
  try {
    const subject = await contents(files);
    await answered(work.ask("opened", subject), take);
  } catch (failure) {
    tell(`${files[0].path}: ${failure.message}`);
  }
}

// Takes what was in the files: the one text, or the one of several that is chosen.
function take({ texts, notes: said, findings }) {
  const lines = [...(said ?? []), ...(findings ?? []).map((found) => found.message)];
  if (texts?.length) put(texts[0]);
  if (texts?.some(({ text }) => text.includes("\r"))) lines.push("The ends of its lines are shown as line feeds.");
  const choices = [];
  if (texts?.length > 1) {
    lines.push(`These are ${texts.length} texts; the first is shown.`);
    choices.push(...texts.map((each) => element("button", { type: "button", onclick: () => put(each) }, each.name)));
  }
  tell(...lines.map((line) => element("p", {}, ...worded(line))), ...choices);
}

function put({ text }) {
  editor.replace(text);
}

function tell(...parts) {
  by("notice-text").replaceChildren(...parts);
  by("notice").hidden = !parts.length;
  by("notice").dataset.kind = "";
}

async function fromLink() {
  try {
    const text = await fromFragment(location.hash);
    if (text === null) return false;
    linked = text;
    editor.replace(text);
    return true;
  } catch (failure) {
    const says = "The link is damaged or cut off: its text cannot be read. Ask for it once more, or for the file.";
    tell(failure instanceof TooLarge ? failure.message : says);
    return false;
  }
}

// Back from a link, the text is there again that stood before it.
async function onHash() {
  const isBack = linked !== null && !location.hash;
  if (isBack) {
    linked = null;
    own();
  } else await fromLink();
}

function own() {
  editor.replace(kept() ?? examples[0].text);
}

async function copyLink() {
  const text = editor.text;
  let link;
  try {
    link = await linkTo(text, location.href);
  } catch (failure) {
    return tell(failure.message);
  }
  keep(text);
  linked = text;
  history.replaceState(null, "", link);
  const isCopied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
  tell(`The link is ${isCopied ? "copied" : "in the address bar"}. It holds the whole text; no server sees it.`);
}

function forgetLink() {
  linked = null;
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}

// ---- at the start

function listen() {
  for (const tab of tabs) tab.onclick = () => select(tab.dataset.pane);
  by("tabs").onkeydown = onTabKey;
  by("dismiss").onclick = () => tell();
  by("link").onclick = copyLink;
  by("open").onclick = () => by("files").click();
  by("open-folder").onclick = () => by("folder").click();
  for (const id of ["files", "folder"]) {
    by(id).onchange = ({ target }) => openFiles(chosen(target.files)).then(() => (target.value = ""));
  }
  by("examples").append(...examples.map(({ title }, at) => element("option", { value: String(at) }, title)));
  by("examples").onchange = ({ target }) => {
    if (target.value) tell(), put(examples[target.value]);
  };
  addEventListener("hashchange", onHash);
  addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
  addEventListener("drop", onDrop, true);
}

async function onDrop(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  event.stopPropagation();
  openFiles(await dropped(event.dataTransfer)); // its entries are gone after the event
}

async function start() {
  listen();
  select(active);
  if (!(await fromLink())) own();
  edited(); // an empty text was no edit
  await answered(work.ask("hello", null), () => {
    document.body.dataset.ready = String(Math.round(performance.now()));
  });
}

start();
