// A field above each long table that leaves only the rows with all of the words typed. Enter goes to an only one.
for (const box of document.querySelectorAll(".find")) {
  const rows = [...box.querySelectorAll("tbody tr")];
  const words = rows.map((row) => row.textContent.toLowerCase());
  const field = Object.assign(document.createElement("input"), {
    type: "search", placeholder: `Find among ${rows.length}`, ariaLabel: "Find in this table", className: "find-field",
  });
  const left = () => rows.filter((row) => !row.hidden);
  field.addEventListener("input", () => {
    const asked = field.value.toLowerCase().split(/\s+/);
    rows.forEach((row, at) => { row.hidden = !asked.every((word) => words[at].includes(word)); });
    box.classList.toggle("find-none", left().length === 0);
  });
  field.addEventListener("keydown", (event) => {
    const only = left();
    if (event.key === "Enter" && only.length === 1) only[0].querySelector("a[href]").click();
  });
  box.prepend(field);
}
