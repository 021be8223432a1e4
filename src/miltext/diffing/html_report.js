// A row where only names differ is a change if something is told of it: then its sign is a link.
const isChange = (row) => row?.matches(".row:not(.equal, .name)") || row?.matches(".name:has(> a)");
const starts = [...document.querySelectorAll(".panes > .row")].filter(
  (row) => isChange(row) && !isChange(row.previousElementSibling),
);
const steps = document.getElementById("steps");
const [now, back, forth] = steps.children;
let current = -1;

function unfold() {
  const target = document.getElementById(location.hash.slice(1));
  const around = target?.closest("details");
  if (!around || around.open) return;
  around.open = true;
  target.scrollIntoView();
}

function step(by) {
  if (!starts.length) return;
  starts[current]?.classList.remove("now");
  current = current < 0 && by < 0 ? starts.length - 1 : (current + by + starts.length) % starts.length;
  starts[current].classList.add("now");
  starts[current].scrollIntoView({ block: "center" });
  now.textContent = `${current + 1} of ${starts.length}`;
}

// What is selected is in the pane where that began.
addEventListener("mousedown", ({ target }) => {
  const cell = target.closest(".row > div");
  document.body.dataset.pane = cell ? [...cell.parentElement.children].indexOf(cell) : "";
});

addEventListener("hashchange", unfold);
unfold();
steps.hidden = !starts.length;
now.textContent = `${starts.length} ${starts.length === 1 ? "place" : "places"}`;
forth.addEventListener("click", () => step(1));
back.addEventListener("click", () => step(-1));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "n") step(1);
  if (event.key === "p") step(-1);
});
