const starts = [...document.querySelectorAll(".panes > .row:not(.equal)")].filter(
  (row) => !row.previousElementSibling?.matches(".row:not(.equal)"), // those in folds are no children of the panes
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
