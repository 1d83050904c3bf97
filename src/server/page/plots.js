// Small plots of our own on SVG: a line over time, and bars in two parts. What they show is also there as text.
import {h, svg} from "./dom.js";

const kWidth = 280;
const kHeight = 64;
const kWindow = 60_000;  // Milliseconds of time that a line shows.

// 1, 2 or 5 times a power of ten, at least `value`.
export function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= value);
}

const short = (value) => (value >= 10000 ? `${Math.round(value / 1000)}k` : `${Math.round(value * 100) / 100}`);

class Plot {
  // `keys`: [[class of the colour, words], ...] for the legend.
  constructor(title, unit, keys) {
    this.value = h("output", {class: "plot-value"}, "\u2013");
    this.top = h("span", {class: "plot-top"}, "");
    this.drawing = svg("svg", {class: "plot", viewBox: `0 0 ${kWidth} ${kHeight}`, preserveAspectRatio: "none",
      "aria-hidden": "true", focusable: "false"});
    this.words = h("span", {class: "plot-words"}, "");
    this.node = h("figure", {class: "figure"},
      h("div", {class: "plot-head"}, h("h3", {}, title), this.value, h("span", {class: "unit"}, unit)),
      h("div", {class: "plot-box"}, this.top, this.drawing),
      h("figcaption", {}, h("span", {class: "keys"}, ...keys.map(([colour, words]) =>
        h("span", {class: "key"}, h("i", {class: `swatch ${colour}`}), words))), this.words));
  }

  // Lines across at the bottom and half way.
  grid() {
    return [0.5, kHeight / 2, kHeight - 0.5].map((y) =>
      svg("line", {class: "grid", x1: 0, x2: kWidth, y1: y, y2: y, "vector-effect": "non-scaling-stroke"}));
  }
}

// Several lines over the last minute. `top`: the fixed end of the scale, or null for one that fits.
export class TimePlot extends Plot {
  constructor(title, unit, keys, top = null) {
    super(title, unit, keys);
    this.fixed = top;
    this.lines = keys.map(([colour], i) => ({colour, points: [], area: i === 0}));
  }

  // Adds a value to a line; null interrupts it.
  add(line, value, at = performance.now()) {
    const points = this.lines[line].points;
    if (value === null && (points.at(-1)?.[1] ?? null) === null) return;
    points.push([at, value]);
    while (points.length > 0 && points[0][0] < at - 2 * kWindow) points.shift();
  }

  draw(at = performance.now()) {
    const inside = this.lines.map((line) => line.points.filter(([time]) => time >= at - kWindow));
    const most = Math.max(...inside.flat().map(([, value]) => value ?? 0), 0);
    const top = this.fixed ?? niceTop(most);
    this.top.textContent = most > 0 || this.fixed ? short(top) : "";
    const x = (time) => (kWidth * (1 - (at - time) / kWindow)).toFixed(1);
    const y = (value) => ((kHeight - 1.5) * (1 - Math.min(1, value / top)) + 1).toFixed(1);
    const nodes = this.grid();
    this.lines.forEach((line, i) => {
      for (const run of runsOf(inside[i])) {
        const path = run.map(([time, value], k) => `${k ? "L" : "M"}${x(time)} ${y(value)}`).join("");
        if (line.area) {
          const closed = `${path}L${x(run.at(-1)[0])} ${kHeight}L${x(run[0][0])} ${kHeight}Z`;
          nodes.push(svg("path", {class: `area ${line.colour}`, d: closed}));
        }
        nodes.push(svg("path", {class: `stroke ${line.colour}`, d: path, "vector-effect": "non-scaling-stroke"}));
      }
    });
    this.drawing.replaceChildren(...nodes);
  }
}

// Points between interruptions.
function runsOf(points) {
  const runs = [[]];
  for (const point of points) {
    if (point[1] !== null) runs.at(-1).push(point);
    else if (runs.at(-1).length > 0) runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}

// A bar for each answer: two parts, one on the other.
export class BarPlot extends Plot {
  constructor(title, unit, keys) {
    super(title, unit, keys);
    this.colours = keys.map(([colour]) => colour);
  }

  // `bars`: [[lower, upper], ...], the oldest first.
  draw(bars) {
    const last = bars.slice(-24);
    const top = niceTop(Math.max(...last.map(([lower, upper]) => lower + upper), 0));
    this.top.textContent = last.length > 0 ? short(top) : "";
    const step = Math.min(28, kWidth / Math.max(last.length, 1));
    const nodes = this.grid();
    last.forEach(([lower, upper], i) => {
      let base = kHeight;
      [lower, upper].forEach((part, k) => {
        const height = (kHeight - 1) * part / top;
        base -= height;
        nodes.push(svg("rect", {class: `fill ${this.colours[k]}`, x: (i * step + 1).toFixed(1), y: base.toFixed(1),
          width: Math.max(1, step - 3).toFixed(1), height: height.toFixed(1)}));
      });
    });
    this.drawing.replaceChildren(...nodes);
  }
}
