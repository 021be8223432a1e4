// layoutGraph(root, flows) gives every box its place, and every flow its lines.
//
// A box is {inside: [boxes in the text's order], width, height}; width and height of one that holds others follow from
// these. A flow is {from: box, to: [boxes], label, labelWidth}: values that lead from one box to others. A box gets x and y
// in the box around it, and `lines`: {flow, d}, the path of a line or of its `head`, as SVG spells it, or {flow, label, x, y}.
//
// Each box is laid out by itself, inner ones first: boxes get ranks by the longest path that leads to them, every second
// one, for labels come between. A flow that leaves or enters a box crosses its border at a port.
const layoutGraph = (() => {
  const GAP = { x: 18, y: 11 };
  const BORDER = { side: 14, top: 30, bottom: 12 };
  const ISOLATED = 6; // boxes without neighbours in a row
  const SWEEPS = 8;

  function layoutGraph(root, flows) {
    const around = new Map();
    const all = [];
    (function visit(box) {
      all.push(box);
      Object.assign(box, { flows: new Map(), lines: [], ports: new Map() });
      box.inside.forEach((inner) => { around.set(inner, box); visit(inner); });
    })(root);
    for (const flow of flows) for (const to of flow.to) divide(flow, to, around);
    for (const box of all.reverse()) if (box.inside.length || box === root) arrange(box);
  }

  const pathUp = (box, around) => {
    const path = [];
    for (let each = box; each; each = around.get(each)) path.push(each);
    return path;
  };

  // Tells each box that a flow passes of its part there: from a box inside or null, to boxes inside or null.
  function divide(flow, to, around) {
    const sources = pathUp(flow.from, around);
    const targets = pathUp(to, around);
    if (sources.includes(to) || targets.includes(flow.from)) return;
    const part = (box, from, to) => {
      if (!box.flows.has(flow)) box.flows.set(flow, { flow, from, to: new Set() });
      box.flows.get(flow).to.add(to);
    };
    const common = sources.findIndex((box) => targets.includes(box));
    const there = targets.indexOf(sources[common]);
    for (let at = 1; at < common; at++) part(sources[at], sources[at - 1], null);
    part(sources[common], sources[common - 1], targets[there - 1]);
    for (let at = there - 1; at > 0; at--) part(targets[at], null, targets[at - 1]);
  }

  function arrange(box) {
    const parts = [...box.flows.values()];
    const last = rank(box.inside, parts);
    const rows = rowsOf(box.inside, parts, last);
    order(rows);
    spread(rows);
    place(box, rows, parts);
  }

  // ---- ranks

  function rank(boxes, parts) {
    const index = new Map(boxes.map((box, at) => [box, at]));
    const ins = boxes.map(() => []);
    const outs = boxes.map(() => []);
    for (const { from, to } of parts) {
      for (const target of to) {
        if (!from || !target || index.get(from) >= index.get(target)) continue;
        outs[index.get(from)].push(target);
        ins[index.get(target)].push(from);
      }
    }
    let isolated = 0;
    const known = new Set(parts.flatMap(({ from, to }) => [from, ...to]));
    boxes.forEach((box, at) => {
      box.rank = known.has(box) ? Math.max(0, ...ins[at].map((from) => from.rank + 2)) : 2 * Math.floor(isolated++ / ISOLATED);
    });
    for (let at = boxes.length - 1; at >= 0; at--) { // what nothing leads to stands just before what it leads to
      if (outs[at].length && !ins[at].length) boxes[at].rank = Math.min(...outs[at].map((to) => to.rank)) - 2;
    }
    return Math.max(0, ...boxes.map((each) => each.rank));
  }

  // ---- rows: the boxes of each rank, and the points where flows pass it; row 0 is for what enters

  function rowsOf(boxes, parts, last) {
    const rows = Array.from({ length: last + 3 }, () => []);
    const spots = new Map(boxes.map((box) => [box, { box, width: box.width, height: box.height, up: [], down: [], at: box.rank + 1 }]));
    spots.forEach((spot) => rows[spot.at].push(spot));
    for (const part of parts) thread(part, spots, rows, last + 2);
    return rows;
  }

  // Makes the points of a flow, one in each row from where it begins to the row before its last target.
  function thread(part, spots, rows, bottom) {
    const { flow, from } = part;
    const start = from ? spots.get(from).at + 1 : 0;
    const ends = [...part.to].map((to) => (to ? spots.get(to) : { at: bottom + 1, exit: true }));
    part.back = ends.filter((end) => end.at < start + (from ? 0 : 1)).map((end) => end.box);
    const ahead = ends.filter((end) => end.at > start);
    const stop = Math.max(start, ...ahead.map((end) => end.at - 1));
    part.points = [];
    for (let at = start; at <= stop; at++) {
      const label = from === flow.from && at === start ? flow.label : "";
      const point = { flow, label, width: label ? flow.labelWidth : 2, height: label ? 16 : 0, up: [], down: [], at };
      rows[at].push(point);
      join(at === start ? from && spots.get(from) : part.points.at(-1), point, flow);
      part.points.push(point);
    }
    part.targets = ahead.filter((end) => !end.exit);
    part.exits = ahead.some((end) => end.exit);
    for (const end of part.targets) join(part.points[end.at - 1 - start], end, flow);
  }

  function join(upper, lower, flow) {
    if (!upper) return;
    const weight = upper.box || lower.box ? 1 : 4; // long lines are straight
    upper.down.push({ spot: lower, flow, weight });
    lower.up.push({ spot: upper, flow, weight });
  }

  // ---- order in the rows: each spot goes to the mean of its neighbours above, then of those below, and so on

  function order(rows) {
    const number = () => rows.forEach((row) => row.forEach((spot, at) => { spot.order = at; }));
    number();
    let best = rows.map((row) => [...row]);
    let fewest = crossings(rows);
    for (let sweep = 0; sweep < SWEEPS && fewest; sweep++) {
      const side = sweep % 2 ? "down" : "up";
      for (const row of sweep % 2 ? [...rows].reverse() : rows) {
        for (const spot of row) {
          const near = spot[side];
          spot.wish = near.length ? near.reduce((sum, each) => sum + each.spot.order, 0) / near.length : spot.order;
        }
        row.sort((one, other) => one.wish - other.wish);
        row.forEach((spot, at) => { spot.order = at; });
      }
      const count = crossings(rows);
      if (count < fewest) [best, fewest] = [rows.map((row) => [...row]), count];
    }
    best.forEach((row, at) => { rows[at] = row; });
    number();
  }

  function crossings(rows) {
    let count = 0;
    for (const row of rows) {
      const seen = [];
      for (const spot of row) {
        const ends = spot.down.map((each) => each.spot.order);
        for (const end of ends) for (const other of seen) count += other > end;
        seen.push(...ends);
      }
    }
    return count;
  }

  // ---- places: each spot as near to its neighbours as the order and the widths let it

  function spread(rows) {
    rows.forEach((row) => settle(row, row.map(() => 0), row.map(() => 1)));
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      const side = sweep % 2 ? "down" : "up";
      for (const row of sweep % 2 ? [...rows].reverse() : rows) {
        settle(row, row.map((spot) => wish(spot, [side])), row.map((spot) => weight(spot, [side]) || 0.1));
      }
    }
    // Now boxes and long lines stand. Points beside boxes go to the ports, which boxes do not: they would lead each other
    // further and further aside.
    const stands = (spot) => spot.box || ![...spot.up, ...spot.down].some((each) => each.spot.box);
    for (const row of [...rows, ...[...rows].reverse()]) {
      const wishes = row.map((spot) => (stands(spot) ? spot.x : wish(spot, ["up", "down"], port)));
      settle(row, wishes, row.map((spot) => (stands(spot) ? 1e6 : 1)));
    }
  }

  const weight = (spot, sides) => sides.flatMap((side) => spot[side]).reduce((sum, each) => sum + each.weight, 0);

  // Returns the mean of a spot's neighbours on these sides, or where it is.
  function wish(spot, sides, aside = () => 0) {
    const near = (side) => spot[side].reduce((sum, each) => sum + each.weight * (each.spot.x + aside(each, side)), 0);
    const all = weight(spot, sides);
    return all ? sides.reduce((sum, side) => sum + near(side), 0) / all : spot.x;
  }

  // Returns how far from the middle of a box the flow passes its border.
  function port({ spot, flow }, side) {
    const at = spot.box?.ports.get(flow)?.[side === "up" ? "out" : "in"];
    return at === undefined ? 0 : at - spot.width / 2;
  }

  // Sets x, the middles: least squares, by joining neighbours that would overlap into blocks.
  function settle(row, wishes, weights) {
    const blocks = [];
    let left = 0;
    const offsets = row.map((spot, at) => {
      left += at ? (row[at - 1].width + spot.width) / 2 + GAP.x : 0;
      return left;
    });
    row.forEach((_, at) => {
      let block = { sum: weights[at] * (wishes[at] - offsets[at]), weight: weights[at], count: 1 };
      while (blocks.length && blocks.at(-1).sum / blocks.at(-1).weight > block.sum / block.weight) {
        const before = blocks.pop();
        block = { sum: before.sum + block.sum, weight: before.weight + block.weight, count: before.count + block.count };
      }
      blocks.push(block);
    });
    let at = 0;
    for (const block of blocks) {
      for (let count = 0; count < block.count; count++, at++) row[at].x = block.sum / block.weight + offsets[at];
    }
  }

  // ---- lines

  function place(box, rows, parts) {
    const spots = rows.flat();
    const left = Math.min(...spots.map((spot) => spot.x - spot.width / 2), 0) - BORDER.side;
    const right = Math.max(...spots.map((spot) => spot.x + spot.width / 2), left + BORDER.side + (box.titleWidth || 0));
    let top = BORDER.top;
    rows.forEach((row, at) => {
      const height = Math.max(0, ...row.map((spot) => spot.height));
      const y = at ? top : 0;
      const bottom = top + height;
      for (const spot of row) {
        Object.assign(spot, { x: spot.x - left, top: y, bottom });
        if (spot.box) Object.assign(spot.box, { x: spot.x - spot.width / 2, y: top + (height - spot.height) / 2 });
      }
      top = bottom + (row.length ? GAP.y : 0);
    });
    Object.assign(box, { width: right - left + BORDER.side, height: top - GAP.y + BORDER.bottom });
    for (const spot of spots) if (spot.box) for (const way of ["up", "down"]) attach(spot, way);
    for (const part of parts) draw(box, part);
  }

  // Spreads the ends of lines along a side of a box that says not itself where they cross its border.
  function attach(spot, way) {
    const ends = spot[way].filter(({ flow }) => spot.box.ports.get(flow)?.[way === "up" ? "in" : "out"] === undefined);
    ends.sort((one, other) => one.spot.x - other.spot.x);
    ends.forEach((end, at) => { end.x = spot.box.x + (spot.width * (at + 1)) / (ends.length + 1); });
    for (const end of spot[way]) end.x ??= spot.box.x + spot.box.ports.get(end.flow)[way === "up" ? "in" : "out"];
  }

  const n = (number) => Math.round(number * 10) / 10;
  const curve = (x, y, toX, toY) => `C${n(x)} ${n((y + toY) / 2)} ${n(toX)} ${n((y + toY) / 2)} ${n(toX)} ${n(toY)}`;
  const begin = (x, y) => `M${n(x)} ${n(y)}`;

  function draw(box, { flow, from, points, targets, exits, back }) {
    const line = (d, head) => box.lines.push({ flow, d, head });
    const [first] = points;
    const source = from && first.up[0].spot;
    let [x, y] = source ? [source.down.find((end) => end.flow === flow).x, from.y + from.height] : [first.x, 0];
    for (const to of back) drawBack(line, x, y, to);
    let trunk = begin(x, y);
    for (const point of points) {
      trunk += curve(x, y, point.x, point.top) + (point.label ? begin(point.x, point.bottom) : `V${n(point.bottom)}`);
      [x, y] = [point.x, point.bottom];
    }
    line(exits ? `${trunk}V${n(box.height)}` : trunk);
    if (first.label) box.lines.push({ flow, label: first.label, x: first.x, y: (first.top + first.bottom) / 2 });
    for (const end of targets) {
      const point = points[end.at - 1 - first.at];
      const { x: toX } = end.up.find((each) => each.flow === flow);
      line(begin(point.x, point.bottom) + curve(point.x, point.bottom, toX, end.box.y));
      if (end.box.inside.length === 0 || flow.to.includes(end.box)) line(`${begin(toX, end.box.y)}l-3.5 -6h7z`, true);
    }
    if (!from) box.ports.set(flow, { ...box.ports.get(flow), in: first.x });
    if (exits) box.ports.set(flow, { ...box.ports.get(flow), out: points.at(-1).x });
  }

  // A line to a box that stands above or beside its source, as in a text that uses a value before it is made.
  function drawBack(line, x, y, to) {
    const [side, middle] = [to.x + to.width, to.y + to.height / 2];
    line(`${begin(x, y)}C${n(x)} ${n(y + 60)} ${n(side + 60)} ${n(middle)} ${n(side)} ${n(middle)}`);
    line(`${begin(side, middle)}l6 -3.5v7z`, true);
  }

  return layoutGraph;
})();
