// graphLegend(colours) gives the elements that say what the boxes and lines of a graph mean. `colours` are further rows:
// the class of a word, the word, and what it means.
const graphLegend = (() => {
  const { svg, html, widthOf } = graphData;
  const BOXES = [
    ["op", "conv", "operation, by its type, with the name of its value"],
    ["op g-folds", "\u25b8 cond", "operation with blocks, folded"],
    ["const", "const", "constant"],
    ["input", "x", "input or output"],
    ["scope g-folds", "\u25b8 layers_3", "folded scope: operations with a common beginning of their names, or neighbours"],
    ["scope g-open", "\u25be layers_3", "unfolded scope, block or function"],
    ["op g-chosen", "conv", "chosen"],
    ["op g-hit", "conv", "found, or a folded box with something found"],
  ];

  function box(kind, word) {
    const wide = widthOf(word) + 20;
    const picture = svg("svg", { width: wide, height: 26, "aria-hidden": "true" });
    const round = kind === "input" ? 12 : 6;
    picture.append(svg("g", { class: `g-node g-${kind}` }, svg("rect", { x: 1.5, y: 1.5, width: wide - 3, height: 23, rx: round }),
      svg("text", { x: wide / 2, y: 17, class: "g-title" }, word)));
    return picture;
  }

  function flow() {
    const picture = svg("svg", { width: 110, height: 26, "aria-hidden": "true" });
    picture.append(svg("path", { d: "M0 13H12M90 13H104", class: "g-line" }), svg("path", { d: "M110 13l-7 -3.5v7z", class: "g-tip" }),
      svg("text", { x: 51, y: 17, class: "g-type" }, "fp16 [1, 8]"));
    return picture;
  }

  return (colours) => {
    const rows = [...BOXES.map(([kind, word, means]) => [box(kind, word), means]), [flow(), "a value from its operation to its users, with its type"],
      ...colours.map(([kind, word, means]) => [html("code", { class: kind }, word), means])];
    return [html("dl", {}, ...rows.map(([sample, means]) => html("div", {}, html("dt", {}, sample), html("dd", {}, means))))];
  };
})();
