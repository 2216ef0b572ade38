// A forest plot: one line a coefficient, its estimate and interval, drawn as SVG so that names are text and the page's palette holds.
"use strict";

// shape("line", {x1: 0, ...}, child...): as element(), of a picture. Classes only: the content security policy forbids inline style.
function shape(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) made.append(child);
  return made;
}

// A place that is drawn again when its width changes: draw(width) returns what it shows.
function picture(description, draw, more) {
  const place = element("div", { class: "drawing", role: "img", "aria-label": description, ...more });
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(place.clientWidth);
    if (width === 0 || width === drawn) return;
    drawn = width;
    place.replaceChildren(draw(width));
  }).observe(place);
  return place;
}

// Round numbers of a linear axis, about this many.
function linearTicks(low, high, about) {
  const raw = (high - low) / Math.max(1, about), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(one => one * power).find(one => one >= raw) || power;
  const ticks = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9; at++) ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}

// Values that a log axis is labelled at, at most about this many: 1, 2, 5 of every decade, or its powers of ten, or every few of these.
function logTicks(low, high, most) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const inside = (steps, every) => {
    const ticks = [];
    for (let power = first; power <= last; power++)
      if (power % every === 0) for (const step of steps) ticks.push(Number(`${step}e${power}`));
    return ticks.filter(one => one >= low * (1 - 1e-9) && one <= high * (1 + 1e-9));
  };
  const fine = [[[1, 1.5, 2, 3, 5, 7], 1], [[1, 2, 5], 1], [[1, 3], 1], [[1], 1]];
  if (inside(fine[0][0], 1).length < 3) return linearTicks(low, high, Math.max(2, Math.min(5, most - 2)));
  for (const [steps, every] of fine) {
    const ticks = inside(steps, every);
    if (ticks.length <= most) return ticks;
  }
  for (let every = 2; every < 400; every++) if (inside([1], every).length <= most) return inside([1], every);
  return [];
}

function tickText(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential().replace("e+", "e") : String(Number(value.toPrecision(6)));
}

// Three digits, in a column that has no room for more; four where a year would lose its last.
function compact(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e4 || size < 1e-2)) return value.toExponential(1).replace("e+", "e");
  return number(size >= 1000 ? Math.round(value) : value, 3);
}

// How wide a name is in a drawing: its letters are 13 pixels high (app.css).
const ruler = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  ruler.font = "13px " + getComputedStyle(document.body).fontFamily;
  return ruler.measureText(text).width;
}

// A text that fits into this many pixels.
function shortened(text, room) {
  if (textWidth(text) <= room) return text;
  let most = Math.min(text.length - 1, Math.ceil(room / 2));
  while (most > 1 && textWidth(text.slice(0, most) + "…") > room) most--;
  return text.slice(0, most) + "…";
}

// Room for the longest of these names, and a margin.
function namesWidth(names) { return Math.max(...names.map(textWidth)) + 16; }

// What has no place among effects: intercepts, and the cut points of ordered classes.
function isIntercept(one) { return one.intercept === true || /\(Intercept\)$/.test(one.name) || /^[^:]*\|[^:]*$/.test(one.name); }

const FOREST_MOST = 300, FOREST_LINE = 26;

// Where the axis ends: around all intervals, but one that is far wider than most is cut off, with an arrow.
function forestRange(rows) {
  const known = rows.filter(one => typeof one.low === "number" && typeof one.high === "number");
  const estimates = rows.map(one => one.estimate);
  const widths = known.map(one => one.high - one.low).sort((a, b) => a - b);
  const room = 6 * (widths[Math.floor(widths.length / 2)] || 0);
  const low = Math.max(Math.min(0, ...known.map(one => one.low), ...estimates), Math.min(0, ...estimates) - room);
  const high = Math.min(Math.max(0, ...known.map(one => one.high), ...estimates), Math.max(0, ...estimates) + room);
  const margin = (high - low || 1) * 0.04;
  return [low - margin, high + margin];
}

// One line: name, interval, mark, numbers. `shown` turns a coefficient into what is written (its ratio).
function forestRow(one, y, layout, shown) {
  const x = value => layout.left + (value - layout.low) / (layout.high - layout.low) * layout.width;
  const within = value => Math.min(layout.left + layout.width, Math.max(layout.left, x(value)));
  const parts = [];
  const bar = (from, to, kind) => parts.push(shape("line", { x1: within(from), x2: within(to), y1: y, y2: y, class: kind }));
  const arrow = (at, way) => parts.push(shape("path", { d: `M ${at} ${y} l ${-way * 7} -4 l 0 8 z`, class: "forest-arrow" }));
  const numbers = one.low === null || one.high === null ? compact(shown(one.estimate))
    : `${compact(shown(one.estimate))} (${compact(shown(one.low))} … ${compact(shown(one.high))})`;
  if (one.low !== null && one.high !== null) {
    const share = typeof one.noise === "number" ? Math.min(1, Math.max(0, one.noise)) : 0, inner = Math.sqrt(1 - share);
    bar(one.low, one.high, share > 0 ? "forest-noise" : "forest-interval");
    if (share > 0) bar(one.estimate - (one.estimate - one.low) * inner, one.estimate + (one.high - one.estimate) * inner, "forest-interval");
    if (one.low < layout.low) arrow(layout.left, -1);
    if (one.high > layout.high) arrow(layout.left + layout.width, 1);
  }
  parts.push(shape("rect", { x: within(one.estimate) - 4, y: y - 4, width: 8, height: 8, class: "forest-mark" }));
  return shape("g", { class: "forest-row", "data-name": one.name },
    shape("title", {}, one.name + ": " + numbers),
    shape("text", { x: layout.left - 10, y: y + 4, class: "forest-name", "text-anchor": "end" }, shortened(one.name, layout.names - 14)),
    parts, layout.numbers > 0 ? shape("text", { x: layout.left + layout.width + 12, y: y + 4, class: "forest-number" }, numbers) : null);
}

function forestAxis(layout, bottom, ratio) {
  const x = value => layout.left + (value - layout.low) / (layout.high - layout.low) * layout.width;
  const about = Math.max(3, Math.floor(layout.width / (ratio ? 48 : 60)));
  const ticks = ratio ? logTicks(Math.exp(layout.low), Math.exp(layout.high), about).map(value => [Math.log(value), tickText(value)])
    : linearTicks(layout.low, layout.high, about).map(value => [value, tickText(value)]);
  return [ticks.map(([value]) => shape("line", { x1: x(value), x2: x(value), y1: 4, y2: bottom, class: "forest-grid" })),
    shape("line", { x1: x(0), x2: x(0), y1: 4, y2: bottom, class: "forest-null" }),
    ticks.map(([value, text]) => shape("text", { x: x(value), y: bottom + 16, class: "forest-tick", "text-anchor": "middle" }, text)),
    shape("text", { x: layout.left + layout.width / 2, y: bottom + 36, class: "forest-title", "text-anchor": "middle" },
      ratio ? ratio + " (log axis)" : "estimate")];
}

function drawForest(rows, ratio, width) {
  const names = Math.min(namesWidth(rows.map(one => one.name)), width * 0.42), numbers = width >= 620 ? 200 : 0;
  const [low, high] = forestRange(rows);
  const layout = { left: names, width: width - names - (numbers || 14), low, high, numbers, names };
  const bottom = rows.length * FOREST_LINE + 8;
  const shown = ratio ? Math.exp : value => value;
  return shape("svg", { width, height: bottom + 46, class: "forest", "aria-hidden": "true" }, forestAxis(layout, bottom, ratio),
    rows.map((one, at) => forestRow(one, at * FOREST_LINE + FOREST_LINE / 2 + 4, layout, shown)));
}

const forestOrder = { sorted: true };

// Estimates and their intervals, the largest first or in the order of the table. Ratios are drawn where the link has them, on a log axis.
function forestPlot(coefficients, { ratio, noise }) {
  const all = coefficients.map((one, at) => ({ ...one, noise: noise ? noise[at] : null })).filter(one => typeof one.estimate === "number");
  const effects = all.filter(one => !isIntercept(one)), apart = all.filter(isIntercept);
  const noisy = effects.some(one => typeof one.noise === "number" && one.noise > 0);
  const holder = element("div", {});
  const button = element("button", { type: "button", class: "order", onclick: () => { forestOrder.sorted = !forestOrder.sorted; fill(); } });
  const fill = () => {
    const rows = (forestOrder.sorted ? effects.slice().sort((a, b) => b.estimate - a.estimate) : effects).slice(0, FOREST_MOST);
    button.textContent = forestOrder.sorted ? "In the order of the table" : "Largest first";
    holder.replaceChildren(picture("forest plot of " + rows.length + " " + (ratio ? ratio + "s on a log axis" : "estimates") +
      " with their intervals; the numbers are in the table of coefficients", width => drawForest(rows, ratio, width), { id: "forest" }));
  };
  if (effects.length === 0) return null;
  fill();
  return [element("p", {}, button), holder,
    noisy ? element("p", { class: "soft", id: "noise-band" }, "The thick part of an interval is the uncertainty of sampling; the thin ends are what the " +
      "privacy noise adds.") : null,
    effects.length > FOREST_MOST ? element("p", { class: "soft" }, "The first " + FOREST_MOST + " of " + effects.length + ".") : null,
    apart.length > 0 ? element("p", { class: "soft", id: "intercept" }, "Not drawn: " + apart.map(one => one.name + " " + number(one.estimate) +
      (one.low === null ? "" : " (" + number(one.low) + " … " + number(one.high) + ")")).join(", ")) : null];
}
