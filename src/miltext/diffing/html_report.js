// The page of a difference: folds that a link leads into, the steps from change to change, and keys.

// A row where only names differ is a change if something is told of it: then its sign is a link.
const isChange = (row) => row?.matches(".row:not(.equal, .name)") || row?.matches(".name:has(> a)");
const starts = [...document.querySelectorAll(".panes > .row")].filter(
  (row) => isChange(row) && !isChange(row.previousElementSibling),
);
const steps = document.getElementById("steps");
const [now, back, forth] = steps.children;
let current = -1;

// Opens all folds around an element; true if one was closed.
function unfold(element) {
  const around = [];
  for (let fold = element?.parentElement?.closest("details"); fold; fold = fold.parentElement.closest("details")) around.push(fold);
  const closed = around.filter((fold) => !fold.open);
  closed.forEach((fold) => { fold.open = true; });
  return closed.length > 0;
}

function follow() {
  const target = document.getElementById(location.hash.slice(1));
  if (unfold(target)) target.scrollIntoView();
}

function goTo(id) {
  location.hash = id;
  const target = document.getElementById(id);
  unfold(target);
  target.scrollIntoView({ block: "center" });
}

function step(by) {
  if (!starts.length) return;
  starts[current]?.classList.remove("now");
  current = current < 0 && by < 0 ? starts.length - 1 : (current + by + starts.length) % starts.length;
  starts[current].classList.add("now");
  unfold(starts[current]);
  starts[current].scrollIntoView({ block: "center" });
  now.textContent = `${current + 1} of ${starts.length}`;
}

// What is selected is in the pane where that began.
addEventListener("mousedown", ({ target }) => {
  const cell = target.closest(".row > div");
  document.body.dataset.pane = cell ? [...cell.parentElement.children].indexOf(cell) : "";
});

addEventListener("hashchange", follow);
follow();
document.getElementById("tools").hidden = false;
steps.hidden = !starts.length;
now.textContent = `${starts.length} ${starts.length === 1 ? "place" : "places"}`;
forth.addEventListener("click", () => step(1));
back.addEventListener("click", () => step(-1));
const filter = new ReportFilter(document.getElementById("filter"), document.getElementById("hits"), unfold);
const graphs = new GraphPair(document.getElementById("graphs"), document.getElementById("graph"), goTo);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  if (event.key === "n") step(1);
  else if (event.key === "p") step(-1);
  else if (event.key === "/" && !event.target.closest(".g-view")) filter.field.select();
  else if (event.key === "g") graphs.key(event.target);
  else return;
  event.preventDefault();
});
