// Charts by uPlot (web/vendor), coloured from the page's own palette so that dark mode holds for them too.
"use strict";

function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function axis(label, more) {
  return { label, stroke: colour("--ink"), grid: { stroke: colour("--line") }, ticks: { stroke: colour("--line") }, ...more };
}

// Rounds are whole.
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];

// Draw when the place is on the page and has a width, of which at most `most` is used; again when the width changes.
function chart({ most = Infinity, ...options }, data, description) {
  const place = element("div", { class: "chart", role: "img", "aria-label": description });
  let plot = null;
  new ResizeObserver(() => {
    const width = Math.min(most, Math.floor(place.clientWidth));
    if (width === 0) return;
    if (plot) plot.setSize({ width, height: options.height });
    else plot = new uPlot({ ...options, width }, data, place);
  }).observe(place);
  return place;
}

// Around the values, with room, and never of no width.
function logRange(low, high) { return low > 0 && high >= low ? [low / 1.3, high * 1.3] : [0.1, 1]; }

// A log axis whose labels are there also when the values span less than a decade.
function logAxis(label, more) {
  return axis(label, { splits: (plot, at, low, high) => logTicks(low, high, 8), filter: (plot, splits) => splits,
    values: (plot, splits) => splits.map(tickText), ...more });
}

// How much each round's result differs from the one before.
function convergenceChart(rounds, changes) {
  return chart({
    height: 260,
    scales: { x: { time: false }, y: { distr: 3, range: (plot, low, high) => logRange(low, high) } },
    axes: [axis("round", { incrs: WHOLE }), logAxis("relative change (log)", { size: 80 })],
    series: [{ label: "round" }, { label: "change", stroke: colour("--accent"), width: 2, points: { show: true } }],
  }, [rounds, changes], "relative change of the result in each round");
}

function roundTimeChart(rounds, seconds, parties) {
  return chart({
    height: 220,
    scales: { x: { time: false }, n: { range: (plot, low, high) => [0, Math.max(1, high) * 1.1] } },
    axes: [axis("round", { incrs: WHOLE }), axis("seconds"), axis("parties", { scale: "n", side: 1, grid: { show: false } })],
    series: [{ label: "round" }, { label: "seconds", stroke: colour("--accent"), width: 2, points: { show: true } },
      { label: "parties in it", scale: "n", stroke: colour("--good"), width: 2, points: { show: true } }],
  }, [rounds, seconds, parties], "duration of each round and how many parties are in it");
}

// Rates of true against false positives, beside the diagonal of guessing.
function rocChart(points) {
  return chart({
    height: 400, most: 460,
    scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1.02] } },
    axes: [axis("false positive rate"), axis("true positive rate", { size: 60 })],
    series: [{ label: "false positives" }, { label: "true positives", stroke: colour("--accent"), width: 2, points: { show: false } },
      { label: "guessing", stroke: colour("--soft"), width: 1, dash: [6, 4], points: { show: false } }],
  }, [points.map(one => one[0]), points.map(one => one[1]), points.map(one => one[0])], "ROC curve of the model");
}

// Net benefit of deciding by the model at each threshold, of treating everybody, and of nobody.
function decisionChart(thresholds, model, all) {
  const most = Math.max(0.01, ...model.filter(value => value !== null));
  return chart({
    height: 280,
    scales: { x: { time: false }, y: { range: [-most * 0.3, most * 1.15] } },
    axes: [axis("threshold"), axis("net benefit", { size: 70 })],
    series: [{ label: "threshold" }, { label: "model", stroke: colour("--accent"), width: 2, points: { show: true } },
      { label: "treat all", stroke: colour("--warn"), width: 1, dash: [6, 4], points: { show: false } },
      { label: "treat nobody", stroke: colour("--soft"), width: 1, points: { show: false } }],
  }, [thresholds, model, all, thresholds.map(() => 0)], "net benefit at each threshold, of the model, of treating all and of treating nobody");
}

// What is spent of the budget after each charge.
function burnDownChart(times, spent, limit) {
  const series = [{ label: "time" }, { label: "spent ε", stroke: colour("--accent"), width: 2, points: { show: true },
    paths: uPlot.paths.stepped({ align: 1 }) }];
  const data = [times, spent];
  if (limit !== null) {
    series.push({ label: "limit", stroke: colour("--bad"), width: 1, dash: [6, 4] });
    data.push(times.map(() => limit));
  }
  return chart({ height: 220, scales: { y: { range: (plot, low, high) => [0, (high || 1) * 1.1] } },
    axes: [axis(""), axis("ε")], series }, data, "budget spent over time");
}
