// The plait: three strands, woven. Strand k stands at sin(t + k/3 of a turn); on its way out it lies over the others.
import {svg} from "./dom.js";

const kDyes = ["woad", "madder", "weld"];
// The curve of a sine over a quarter of a turn as a Bezier: two inner points of it.
const kInner = [[0.5123, 0.5123], [1.0023, 1]];

// A quarter of strand `k`, number `quarter` along it, for a plait that turns once in `turn` units and is `half` wide to
// each side of `middle`.
function quarterPath(k, quarter, middle, half, turn) {
  const unit = turn / (2 * Math.PI);
  const start = quarter * turn / 4 - k * turn / 3;
  const side = [1, 1, -1, -1][((quarter % 4) + 4) % 4];
  const out = quarter % 2 === 0;
  const at = (along, across) => {
    // On the way back the same curve runs from the edge to the middle.
    const time = out ? along : Math.PI / 2 - along;
    return `${(middle + side * half * across).toFixed(2)} ${(start + time * unit).toFixed(2)}`;
  };
  const points = [[0, 0], ...kInner, [Math.PI / 2, 1]];
  if (!out) points.reverse();
  const [first, ...rest] = points.map(([along, across]) => at(along, across));
  return `M${first}C${rest.join(" ")}`;
}

// A plait of `turns` turns that runs downwards, or to the right if `level`.
export function plait(turns, level = false) {
  const turn = 21;
  const length = turn * turns;
  const under = [];
  const over = [];
  for (let k = 0; k < 3; ++k) {
    for (let quarter = -1; quarter * turn / 4 - k * turn / 3 < length + turn / 4; ++quarter) {
      const d = quarterPath(k, quarter, 9, 6.2, turn);
      if (quarter % 2 !== 0) under.push(svg("path", {class: `strand ${kDyes[k]}`, d}));
      else over.push(svg("path", {class: "gap", d}), svg("path", {class: `strand ${kDyes[k]}`, d}));
    }
  }
  const group = svg("g", level ? {transform: "matrix(0 1 1 0 0 0)"} : {}, ...under, ...over);
  return svg("svg", {class: "plait", viewBox: level ? `0 0 ${length} 18` : `0 0 18 ${length}`, "aria-hidden": "true",
    focusable: "false"}, group);
}
