// A report: named tables of numbers in place of a model. Every one is shown as a table; those of a known shape are drawn too.
"use strict";

const REPORT_ROWS_MOST = 500;

// {name, of, title, columns, rows, at(row, column), noise(row, column)}: values by the name of their column, null where there is none.
function reportTable(table) {
  const places = new Map(table.columns.map((name, at) => [name, at]));
  const [name, of] = table.name.split(/[@:](.*)/s);
  return { ...table, name, of: of || "", has: (...names) => names.every(one => places.has(one)),
    at: (row, column) => row.values[places.get(column)] ?? null,
    noise: (row, column) => row.noise_errors ? row.noise_errors[places.get(column)] ?? null : null };
}

function reportNumber(value, noise) {
  if (value === null) return element("span", { class: "soft", title: "not told: too few rows, or it does not apply" }, "–");
  return number(value) + (noise === null ? "" : " ± " + number(noise, 2));
}

const tableOf = table; // where a table of a report has that name

// Where the first column says what the label of its row says, it is shown once.
function reportGrid(table) {
  const first = table.columns[0], twice = table.rows.length > 0 && table.rows.every(row => row.values.length > 1 && Number(row.label) === table.at(row, first));
  const columns = [{ title: twice ? first : "", cell: row => row.label }, ...table.columns.slice(twice ? 1 : 0).map(name => ({ title: name, number: true,
    cell: row => reportNumber(table.at(row, name), table.noise(row, name)) }))];
  const rows = table.rows.slice(0, REPORT_ROWS_MOST), left = table.rows.length - rows.length;
  return [tableOf(columns, rows, table.title),
    left > 0 ? element("p", { class: "soft" }, "and " + left + " more rows: tacit summary prints them all") : null];
}

// ---- a histogram for each number, side by side ----

function drawHistogram(cells, width) {
  const height = 110, left = 4, right = width - 4, base = height - 18;
  const low = cells[0].low, high = cells[cells.length - 1].high;
  const most = Math.max(1e-9, ...cells.map(one => (one.count ?? 0) + (one.noise ?? 0)));
  const x = value => left + (value - low) / (high - low || 1) * (right - left);
  const y = value => base - Math.max(0, value) / most * (base - 16);
  const bar = one => {
    const middle = (x(one.low) + x(one.high)) / 2;
    const text = `${number(one.low)} to ${number(one.high)}: ` + (one.count === null ? "not told" : number(one.count) +
      (one.noise === null ? "" : " ± " + number(one.noise, 2)));
    return shape("g", { class: "bar" }, shape("title", {}, text), one.count === null
      ? shape("line", { x1: x(one.low) + 1, x2: x(one.high) - 1, y1: base - 4, y2: base - 4, class: "bar-hidden" })
      : shape("rect", { x: x(one.low) + 0.5, y: y(one.count), width: Math.max(1, x(one.high) - x(one.low) - 1), height: base - y(one.count), class: "bar-count" }),
    one.count !== null && one.noise !== null
      ? shape("line", { x1: middle, x2: middle, y1: y(one.count - one.noise), y2: y(one.count + one.noise), class: "bar-noise" }) : null);
  };
  return shape("svg", { width, height, "aria-hidden": "true" }, cells.map(bar),
    shape("line", { x1: left, x2: right, y1: base, y2: base, class: "forest-null" }),
    shape("text", { x: left, y: height - 4, class: "picture-tick" }, tickText(low)),
    shape("text", { x: right, y: height - 4, class: "picture-tick", "text-anchor": "end" }, tickText(high)),
    shape("text", { x: left, y: 11, class: "picture-tick" }, "most " + compact(most)));
}

function histograms(table) {
  if (table.name !== "histograms" || !table.has("low", "high", "count")) return null;
  const groups = new Map();
  for (const row of table.rows) {
    const name = row.label.slice(0, row.label.lastIndexOf(": ")) || row.label;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push({ low: table.at(row, "low"), high: table.at(row, "high"), count: table.at(row, "count"), noise: table.noise(row, "count") });
  }
  return element("div", { class: "many" }, [...groups].slice(0, 60).map(([name, cells]) => element("figure", {}, element("figcaption", {}, name),
    picture("histogram of " + name + "; the numbers are in the table", width => drawHistogram(cells, width)))));
}

// ---- a strip of quantiles for each number: 5 to 95 %, the middle half, the median ----

function drawStrips(table, percents, width) {
  const names = Math.min(width * 0.4, namesWidth(table.rows.map(row => row.label)));
  const left = names, right = width - 16, line = 34;
  const ends = new Map(); // what is of one column has one scale, whatever group it is of
  const known = row => percents.map(([name]) => table.at(row, name)).filter(value => value !== null);
  const column = row => row.label.replace(/ \[.*\]$/, "");
  for (const row of table.rows) {
    const [low, high] = ends.get(column(row)) || [Infinity, -Infinity];
    ends.set(column(row), [Math.min(low, ...known(row)), Math.max(high, ...known(row))]);
  }
  const strip = (row, at) => {
    const [low, high] = ends.get(column(row)), y = at * line + 16, here = known(row);
    const x = value => left + (value - low) / (high - low || 1) * (right - left);
    const value = name => table.has(name) ? table.at(row, name) : null;
    const box = value("25%") !== null && value("75%") !== null;
    return shape("g", { class: "strip" },
      shape("title", {}, row.label + ": " + percents.map(([name]) => name + " " + number(table.at(row, name))).join(", ")),
      shape("text", { x: left - 10, y: y + 4, class: "picture-name", "text-anchor": "end" }, shortened(row.label, names - 14)),
      here.length > 1 ? [shape("line", { x1: x(here[0]), x2: x(here[here.length - 1]), y1: y, y2: y, class: "forest-noise" }),
        shape("text", { x: x(here[0]), y: y + 17, class: "picture-tick" }, compact(here[0])),
        shape("text", { x: x(here[here.length - 1]), y: y + 17, class: "picture-tick", "text-anchor": "end" }, compact(here[here.length - 1]))] : null,
      box ? shape("rect", { x: x(value("25%")), y: y - 5, width: Math.max(1, x(value("75%")) - x(value("25%"))), height: 10, class: "strip-half" }) : null,
      value("50%") !== null ? shape("line", { x1: x(value("50%")), x2: x(value("50%")), y1: y - 8, y2: y + 8, class: "strip-median" }) : null);
  };
  return shape("svg", { width, height: table.rows.length * line + 8, "aria-hidden": "true" }, table.rows.map(strip));
}

function quantileStrips(table) {
  const percents = table.columns.map(name => [name, /^(\d+(\.\d+)?)%$/.exec(name)]).filter(one => one[1]);
  if (table.name !== "quantiles" || percents.length < 3 || table.rows.length === 0 || table.rows.length > 200) return null;
  return [picture("quantiles of " + table.rows.length + " numbers; the numbers are in the table", width => drawStrips(table, percents, width)),
    element("p", { class: "soft" }, "From the " + percents[0][0] + " to the " + percents[percents.length - 1][0] +
      " quantile; the box is the middle half, the line in it the median. Each column has a scale of its own.")];
}

// ---- how good scores are ----

function rocCurve(table, tables) {
  if (table.name !== "roc" || !table.has("false_positives", "sensitivity")) return null;
  const points = table.rows.map(row => [table.at(row, "false_positives"), table.at(row, "sensitivity")])
    .filter(one => one[0] !== null && one[1] !== null).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const figures = tables.find(one => one.name === "figures" && one.of === table.of && one.has("value", "low", "high"));
  const auc = figures && figures.rows.find(row => row.label === "auc");
  if (points.length < 2) return null;
  return [rocChart(points), auc ? element("p", { class: "soft auc" }, "AUC " + number(figures.at(auc, "value")) +
    (figures.at(auc, "low") === null ? "" : ", interval " + number(figures.at(auc, "low")) + " … " + number(figures.at(auc, "high")))) : null];
}

function drawCalibration(points, width) {
  const size = Math.min(width, 440), left = 44, top = 8, bottom = size - 40, right = size - 8;
  const x = value => left + Math.min(1, Math.max(0, value)) * (right - left), y = value => bottom - Math.min(1, Math.max(0, value)) * (bottom - top);
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  return shape("svg", { width: size, height: size, "aria-hidden": "true" },
    ticks.map(value => [shape("line", { x1: x(value), x2: x(value), y1: top, y2: bottom, class: "forest-grid" }),
      shape("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "forest-grid" }),
      shape("text", { x: x(value), y: bottom + 15, class: "forest-tick", "text-anchor": "middle" }, tickText(value)),
      shape("text", { x: left - 6, y: y(value) + 4, class: "forest-tick", "text-anchor": "end" }, tickText(value))]),
    shape("line", { x1: x(0), x2: x(1), y1: y(0), y2: y(1), class: "forest-null" }),
    points.map(one => shape("g", { class: "calibration-point" },
      shape("title", {}, "predicted " + number(one.predicted) + ", observed " + number(one.observed)),
      one.low !== null && one.high !== null ? shape("line", { x1: x(one.predicted), x2: x(one.predicted), y1: y(one.low), y2: y(one.high), class: "forest-noise" }) : null,
      shape("circle", { cx: x(one.predicted), cy: y(one.observed), r: 4, class: "forest-mark" }))),
    shape("text", { x: (left + right) / 2, y: size - 6, class: "forest-title", "text-anchor": "middle" }, "predicted probability"),
    shape("text", { x: 12, y: (top + bottom) / 2, class: "forest-title", "text-anchor": "middle", transform: `rotate(-90 12 ${(top + bottom) / 2})` }, "observed share"));
}

function calibrationPlot(table) {
  if (table.name !== "calibration" || !table.has("predicted", "observed")) return null;
  const points = table.rows.map(row => ({ predicted: table.at(row, "predicted"), observed: table.at(row, "observed"),
    low: table.at(row, "observed_low"), high: table.at(row, "observed_high") })).filter(one => one.predicted !== null && one.observed !== null);
  if (points.length === 0) return null;
  return [picture("calibration: the observed share beside the predicted probability in " + points.length + " groups", width => drawCalibration(points, width)),
    element("p", { class: "soft" }, "On the dashed line predictions are right on average.")];
}

// What a decision at each threshold gains, beside treating everybody.
function decisionCurve(table) {
  if (table.name !== "thresholds" || !table.has("threshold", "net_benefit", "treat_all")) return null;
  const rows = table.rows.filter(row => table.at(row, "net_benefit") !== null);
  if (rows.length < 3) return null;
  return decisionChart(rows.map(row => table.at(row, "threshold")), rows.map(row => table.at(row, "net_benefit")), rows.map(row => table.at(row, "treat_all")));
}

// ---- curves of survival: all groups in one picture, with intervals, and how many are at risk under the axis ----

const CURVE_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777"]; // Okabe and Ito

function curvePoints(table) {
  return table.rows.map(row => ({ time: Number(row.label), survival: table.at(row, "survival"), low: table.at(row, "low"), high: table.at(row, "high"),
    atRisk: table.at(row, "at risk") })).filter(one => one.survival !== null);
}

// From time 0 along a value that steps at each time.
function stepPath(points, value, x, y, start = 1) {
  let path = `M${x(0)} ${y(start)}`, before = start;
  for (const one of points) {
    path += `L${x(one.time)} ${y(before)}L${x(one.time)} ${y(value(one))}`;
    before = value(one);
  }
  return path;
}

function bandPath(points, x, y, start = 1) {
  const low = one => one.low ?? one.survival;
  let path = stepPath(points, one => one.high ?? one.survival, x, y, start);
  for (let k = points.length - 1; k >= 0; k--)
    path += `L${x(k + 1 < points.length ? points[k + 1].time : points[k].time)} ${y(low(points[k]))}L${x(points[k].time)} ${y(low(points[k]))}`;
  return path + `L${x(points[0].time)} ${y(start)}Z`;
}

// `start`: 1 for survival, with numbers at risk under the axis; 0 for the incidence of causes, with their names.
function drawSurvival(curves, width, start = 1) {
  const names = Math.min(width * 0.3, 8 + namesWidth(["at risk", ...curves.map(one => one.name)]));
  const left = Math.max(44, names), right = width - 20, top = 8, bottom = 268, line = 18;
  const last = Math.max(...curves.map(one => one.points[one.points.length - 1].time));
  const x = time => left + time / (last || 1) * (right - left), y = share => bottom - Math.min(1, Math.max(0, share)) * (bottom - top);
  const times = [0, 0.25, 0.5, 0.75, 1].map(part => part * last), shares = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const tint = at => CURVE_COLOURS[at % CURVE_COLOURS.length];
  const atRisk = (points, time) => points.find(one => one.time >= time);
  return shape("svg", { width, height: bottom + 44 + line * curves.length, "aria-hidden": "true" },
    shares.map(share => [shape("line", { x1: left, x2: right, y1: y(share), y2: y(share), class: "forest-grid" }),
      shape("text", { x: left - 6, y: y(share) + 4, class: "forest-tick", "text-anchor": "end" }, tickText(share))]),
    times.map(time => shape("text", { x: x(time), y: bottom + 16, class: "forest-tick", "text-anchor": "middle" }, compact(time))),
    curves.map((one, at) => shape("path", { d: bandPath(one.points, x, y, start), fill: tint(at), "fill-opacity": 0.15, class: "survival-band" })),
    curves.map((one, at) => shape("path", { d: stepPath(one.points, point => point.survival, x, y, start), fill: "none", stroke: tint(at), "stroke-width": 2,
      class: "survival-curve" })),
    start === 1 ? shape("text", { x: left - 14, y: bottom + 16, class: "forest-tick", "text-anchor": "end" }, "at risk") : null,
    curves.map((one, at) => [shape("text", { x: left - 14, y: bottom + 36 + line * at, fill: tint(at), "text-anchor": "end", class: "picture-name" },
      shortened(one.name, left - 18)),
    times.map(time => atRisk(one.points, time)).map((point, k) => point && (point.atRisk ?? null) !== null
      ? shape("text", { x: x(times[k]), y: bottom + 36 + line * at, class: "forest-tick survival-at-risk", "text-anchor": "middle" }, String(Math.round(point.atRisk))) : null)]));
}

// Beside the first of the curves; the others have their numbers.
function survivalCurves(table, tables) {
  const isCurve = one => one.name.startsWith("curve ") && one.has("at risk", "survival", "low", "high");
  if (!isCurve(table)) return null;
  if (tables.find(isCurve) !== table) return [];
  const curves = tables.filter(isCurve).map(one => ({ name: one.name.slice(6), points: curvePoints(one) })).filter(one => one.points.length > 0);
  if (curves.length === 0) return null;
  return [picture("curves of survival of " + curves.length + (curves.length === 1 ? " group" : " groups") + "; the numbers are in the tables",
    width => drawSurvival(curves, width)), element("p", { class: "soft" }, "Shaded: confidence intervals. Under the axis, how many of each group are at risk then.")];
}

// The share of a group with an event of each cause, where causes compete.
function incidenceCurves(table) {
  if (!table.name.startsWith("incidence ")) return null;
  const names = table.columns, causes = names.filter((name, at) => at % 4 === 0 && names[at + 3] === name + " high");
  if (causes.length === 0 || table.rows.length === 0) return null;
  const curves = causes.map(name => ({ name, points: table.rows.map(row => ({ time: Number(row.label), survival: table.at(row, name),
    low: table.at(row, name + " low"), high: table.at(row, name + " high") })).filter(one => one.survival !== null) })).filter(one => one.points.length > 0);
  if (curves.length === 0) return null;
  return [picture("cumulative incidence of " + curves.length + " causes; the numbers are in the table", width => drawSurvival(curves, width, 0)),
    element("p", { class: "soft" }, "Shaded: confidence intervals.")];
}

function reportPart(report, id = "report") {
  const tables = report.tables.map(reportTable);
  const said = fact => fact.number === null || (fact.text || "").startsWith(number(fact.number)) ? fact.text
    : number(fact.number) + (fact.text ? ", " + fact.text : "");
  const facts = report.facts.map(fact => [fact.name, said(fact)]);
  return element("section", { id, "aria-label": "report" },
    element("p", {}, (report.mode === "private" ? "With privacy noise: ± is its standard error. " : "From exact sums. ") + number(report.rows) + " rows of all parties."),
    facts.length > 0 ? element("dl", { class: "panel" }, facts.map(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])) : null,
    tables.map(table => {
      const drawn = histograms(table) || quantileStrips(table) || rocCurve(table, tables) || calibrationPlot(table) || decisionCurve(table) || survivalCurves(table, tables) || incidenceCurves(table);
      const empty = table.rows.length > 0 && table.rows.every(row => row.values.every(value => value === null));
      const folded = drawn || empty || table.name.endsWith("_intervals"); // as many rows as the drawing has, times what is drawn
      return element("section", { class: "report-table", "data-table": table.name, "aria-label": table.title }, element("h3", {}, table.title), drawn,
        empty ? element("p", { class: "soft" }, "No figure of this table is told: a cell has too few rows, or none is defined.") : null,
        folded ? element("details", {}, element("summary", {}, "The numbers"), reportGrid(table)) : reportGrid(table));
    }));
}
