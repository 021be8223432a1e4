// ReportFilter shows only the entries and rows that contain all words of its field, with what they are in; `told` says how
// many these are. Enter goes to the next one, Shift and Enter to the previous one, and Escape empties the field.
//
// An entry is searched with the details below it, and shown with them. Folds with something found are open, and as before
// when the field is empty again.
class ReportFilter {
  static WAIT = 120; // milliseconds from the last key to the search: a page can have many thousands of rows
  static DETAIL = "li:not(.head, .detail) > ul > li.detail"; // of an entry, and not one by itself

  constructor(field, told, unfold) {
    Object.assign(this, { field, told, unfold, hits: [], at: -1, shown: [], opened: [], texts: null, asked: "" });
    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.search(), ReportFilter.WAIT);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape" && field.value) field.value = "";
      else return;
      clearTimeout(waiting);
      if (event.key === "Escape") this.search();
      event.preventDefault();
    });
    if (field.value) this.search(); // which the browser kept
  }

  // Gives each entry and each row with its words.
  read() {
    const entries = [...document.querySelectorAll("#report .told li, #report tr:has(td)")].filter((each) => !each.matches(ReportFilter.DETAIL));
    const rows = [...document.querySelectorAll(".panes .row, .panes .both")];
    const own = (each) => [...each.querySelectorAll(":scope > span, :scope > details > summary > span, :scope > td, :scope > ul > li.detail > span")];
    const words = (parts) => parts.map((part) => part.textContent).join("\n").toLowerCase();
    return [...entries.map((each) => [each, words(own(each))]), ...rows.map((each) => [each, words([...(each.matches(".both") ? [each] : each.children)].slice(each.matches(".both") ? 0 : 1))])];
  }

  search() {
    const wanted = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.join(" ") === this.asked) return;
    this.asked = wanted.join(" ");
    this.clear();
    if (wanted.length) {
      this.texts ||= this.read();
      this.hits = this.texts.filter(([, text]) => wanted.every((word) => text.includes(word))).map(([each]) => each);
      this.show();
    }
    document.body.classList.toggle("filtered", wanted.length > 0);
    const entries = this.hits.filter((each) => each.closest("#report")).length;
    const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;
    this.told.textContent = wanted.length ? `${counted(entries, "entry", "entries")}, ${counted(this.hits.length - entries, "row", "rows")}` : "";
  }

  clear() {
    this.shown.forEach((each) => each.classList.remove("in", "hit", "now"));
    this.opened.forEach((fold) => { fold.open = false; });
    Object.assign(this, { hits: [], at: -1, shown: [], opened: [] });
  }

  // Marks what is found, and all that it is in or that belongs to it; opens folds.
  show() {
    const shown = new Set();
    for (const hit of this.hits) {
      hit.classList.add("hit");
      hit.querySelectorAll(":scope > ul > li.detail").forEach((detail) => shown.add(detail));
      for (let each = hit; each && !shown.has(each) && !each.matches("section"); each = each.parentElement) {
        shown.add(each);
        if (each.matches("details") && !each.open) this.opened.push(each);
      }
    }
    shown.forEach((each) => each.classList.add("in"));
    this.opened.forEach((fold) => { fold.open = true; });
    this.shown = [...shown];
  }

  step(by) {
    this.search();
    const count = this.hits.length;
    if (!count) return;
    this.hits[this.at]?.classList.remove("now");
    this.at = (Math.max(this.at, by < 0 ? 0 : -1) + by + count) % count;
    const hit = this.hits[this.at];
    hit.classList.add("now");
    this.unfold(hit);
    hit.scrollIntoView({ block: "center" });
    this.told.textContent = `${this.at + 1} of ${count}`;
  }
}
