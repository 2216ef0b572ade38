// The coordinator's dashboard: the list of studies, and one study with its rounds, its guarantee and its result.
"use strict";

const views = { latest: null, drawn: null, folded: null };

function state(study) { return element("span", { class: "state " + study.state }, study.state); }

function card(value, label, id) { return element("div", { class: "card", id }, element("b", {}, value), element("span", {}, label)); }

function showStudies(state_) {
  document.title = "Tacit: studies";
  document.getElementById("place").textContent = state_.coordinator;
  const create = element("p", {}, element("a", { class: "button", id: "new-study", href: "#/new" }, "New study"));
  if (state_.studies.length === 0)
    return show(element("h2", {}, "Studies"), element("p", {}, "There is no study yet: tacit study new."), create);
  const columns = [
    { title: "Study", cell: one => [element("a", { href: "#/study/" + encodeURIComponent(one.name) }, one.name),
      element("div", { class: "soft title" }, one.title || one.reason || "")] },
    { title: "State", cell: state },
    { title: "Method", cell: one => one.method || "" },
    { title: "ε", number: true, cell: one => number(one.epsilon) },
    { title: "Parties", number: true, cell: one => one.parties ? one.parties.joined + " of " + one.parties.expected : "" },
    { title: "Rounds", number: true, cell: one => number(one.rounds) + (one.progress
      ? " (" + one.progress.done + " of " + one.progress.total + " " + one.progress.stage + ")" : "") },
  ];
  show(element("h2", {}, "Studies"), table(columns, state_.studies, "studies"), create);
}

// What was written for people, and whether and when nothing is asked.
function aboutPart(study) {
  const schedule = study.schedule || {};
  const lines = [
    ["About", study.description],
    ["Approval", study.approval],
    ["Consent document", study.consent_document ? "version " + study.consent_document.slice(0, 16) + "…" : null],
    ["Schedule", [schedule.from ? "not before " + schedule.from : null, schedule.until ? "until " + schedule.until : null]
      .filter(text => text).join(", ")],
    ["Version", study.version > 1 ? study.version + (study.parties.outdated > 0
      ? "; " + study.parties.outdated + " parties have not consented to it" : "") : null],
    ["Authority", study.parties.followed !== undefined ? "is being replaced: " + study.parties.followed + " of " + study.parties.joined +
      " parties have followed to the new one" : null],
  ].filter(line => line[1]);
  if (lines.length === 0) return null;
  return element("dl", { class: "panel", id: "about" }, lines.map(line => [element("dt", {}, line[0]), element("dd", {}, line[1])]));
}

const actions = { draft: [["open", "Open to parties"]], recruiting: [["pause", "Pause"]], running: [["pause", "Pause"]],
  paused: [["resume", "Resume"]] };

function actionPart(study) {
  const message = element("p", { class: "error", role: "alert" });
  const act = async word => {
    try {
      await request("POST", "/v1/studies/" + encodeURIComponent(study.name) + "/" + word);
      await page.start();
    } catch (problem) {
      if (problem.status === 401) report(problem);
      else message.textContent = problem.message;
    }
  };
  const buttons = (actions[study.state] || []).map(([word, label]) =>
    element("button", { type: "button", class: word, onclick: () => act(word) }, label));
  return buttons.length > 0 ? [element("p", {}, buttons), message] : null;
}

const targets = { se: "standard error", width: "width of the interval", power: "power" };

// How far the study is from its target, look by look.
function targetPart(target) {
  if (!target) return null;
  const power = target.kind === "power";
  const asked = (power ? "at least " : "at most ") + number(target.limit);
  const what = targets[target.kind] + (power ? " to find an effect of " + number(target.effect) + " on " : " of ") + target.column;
  const last = target.found.length > 0 ? target.found[target.found.length - 1] : null;
  // Rows needed go with the square of a standard error: the share of them that is there.
  const share = !last ? 0 : last.met ? 1 : power ? last.value / target.limit : Math.min(1, (target.limit / last.value) ** 2);
  const columns = [
    { title: "Look", number: true, cell: one => one.look },
    { title: "Parties", number: true, cell: one => one.parties },
    { title: "Rows", number: true, cell: one => number(one.rows) },
    { title: what, number: true, cell: one => number(one.value) },
    { title: "Target (" + asked + ")", cell: one => one.met ? "reached" : "not yet" },
  ];
  return [element("h3", {}, "Target"),
    element("p", {}, "The " + what + " is to be " + asked + "; look " + target.look + " of at most " + target.looks + "."),
    element("meter", { id: "target", min: 0, max: 1, value: share, "aria-label": "how far the target is reached" },
      Math.round(100 * share) + " %"),
    target.found.length > 0 ? table(columns, target.found, "looks") : element("p", { class: "soft" }, "No look is over yet.")];
}

function partyCards(study, rounds) {
  const parties = study.parties;
  const cards = [card(parties.joined + " / " + parties.expected, "parties joined, minimum " + parties.minimum)];
  if (study.state === "recruiting") cards.push(card(parties.invited, "invitations open"));
  if (parties.seen !== undefined)
    cards.push(card(parties.seen, "seen in the last minute"), card(parties.silent, "silent"));
  if (parties.answered !== undefined)
    cards.push(card(parties.answered, "answered the open question"), card(parties.refused, "refused it"));
  cards.push(card(study.rounds, "rounds finished", "rounds-finished"));
  if (rounds.length > 0)
    cards.push(card(rounds[rounds.length - 1].parties, "parties in the last round", "last-round"));
  if (study.step) cards.push(card(study.step, "step of the masked sum"));
  return element("div", { class: "cards" }, cards);
}

// How far it is, where the method knows how many steps there are.
function progressPart(progress) {
  if (!progress) return null;
  const text = progress.done + " of " + progress.total + " " + progress.stage;
  return element("p", { id: "progress" }, element("progress", { max: progress.total, value: progress.done, "aria-label": text }), " ", text);
}

const standings = { joined: "joined", outdated: "has not consented to this version", away: "has withdrawn", revoked: "revoked",
  invited: "invited", expired: "invitation expired" };

function ago(seconds) {
  if (seconds === null) return "not since the coordinator started";
  if (seconds < 60) return seconds < 5 ? "now" : Math.floor(seconds / 5) * 5 + " s ago";
  return seconds < 5400 ? Math.round(seconds / 60) + " min ago" : seconds < 129600 ? Math.round(seconds / 3600) + " h ago"
    : Math.round(seconds / 86400) + " days ago";
}

function minute(time) { return time.replace("T", " ").slice(0, 16) + " UTC"; }

// Who takes part, by name. It folds up, for a picture that shows no names.
function partiesPart(study, people) {
  if (people.parties.length === 0) return null;
  const ended = study.state === "done" || study.state === "closed" || study.state === "failed";
  const columns = [
    { title: "Party", cell: one => [one.called === null ? "(no name)" : one.called, one.party ? element("div", { class: "soft" }, one.party) : null] },
    { title: "State", cell: one => standings[one.state] + (one.expires ? (one.state === "invited" ? " until " : " ") + minute(one.expires) : "") },
    { title: "Joined", cell: one => one.joined ? element("span", { class: "whole" }, minute(one.joined)) : "" },
  ];
  if (!ended) columns.push({ title: "Last seen", cell: one => one.party && one.state !== "revoked" ? ago(one.seen_seconds) : "" },
    { title: "Open question", cell: one => one.awaited === null ? "" : one.awaited ? "is waited for" : "has answered" });
  const folded = views.folded === null ? ended : views.folded;
  return element("details", { id: "parties", open: folded ? null : "" },
    element("summary", { onclick: event => { views.folded = event.currentTarget.parentElement.open; } }, element("strong", {}, "Parties")), table(columns, people.parties, "parties"),
    people.more > 0 ? element("p", { class: "soft" }, "and " + people.more + " more") : null);
}

function roundsPart(told) {
  const rounds = told.rounds;
  if (rounds.length === 0) return element("p", { class: "soft" }, "No round has ended yet.");
  const parts = [];
  const inRounds = rounds.filter(one => typeof one.change === "number" && one.change > 0);
  const released = told.published.filter(one => typeof one.change === "number" && one.change > 0);
  const curve = inRounds.length > 0 ? inRounds.map(one => [one.round, one.change])
    : released.map(one => [one.published, one.change]);
  if (curve.length > 1)
    parts.push(element("h3", {}, "Convergence"), convergenceChart(curve.map(one => one[0]), curve.map(one => one[1])));
  parts.push(element("h3", {}, "Rounds"), roundTimeChart(rounds.map(one => one.round),
    rounds.map(one => (one.ended_ms - one.started_ms) / 1000), rounds.map(one => one.parties)));
  return parts;
}

function coefficientPart(estimates, ratio) {
  const statistic = estimates.statistic;
  const columns = [
    { title: estimates.response, cell: one => one.name },
    { title: "Estimate", number: true, cell: one => number(one.estimate) },
    { title: "Std. error", number: true, cell: one => number(one.error) },
    { title: statistic, number: true, cell: one => number(one.statistic) },
    { title: "p", number: true, cell: one => number(one.p, 3) },
    { title: number(100 * estimates.level) + " % interval", number: true, cell: one => number(one.low) + " … " + number(one.high) },
  ];
  if (ratio) columns.splice(2, 0, { title: ratio, number: true, cell: one => typeof one.estimate === "number" && !isIntercept(one)
    ? number(Math.exp(one.estimate)) : "" });
  if (estimates.noise_share) columns.push({ title: "Of privacy noise", number: true, cell: one => {
    const share = estimates.noise_share[estimates.coefficients.indexOf(one)];
    return typeof share === "number" ? Math.round(100 * share) + " %" : "–";
  } });
  const missing = estimates.not_estimable;
  const plot = forestPlot(estimates.coefficients, { ratio, noise: estimates.noise_share });
  return [element("h3", {}, "Coefficients"), table(columns, estimates.coefficients, "coefficients"),
    element("p", { class: "soft" }, estimates.family + " family, " + number(estimates.rows) + " rows, deviance " +
      number(estimates.deviance) + ", AIC " + number(estimates.aic) + (estimates.sandwich ? ", robust errors" : "")),
    missing ? element("p", { id: "not-estimable" }, "There is no estimate at this price. About " + number(Math.round(missing.rows)) + " rows" +
      (typeof missing.epsilon === "number" ? ", or ε = " + number(missing.epsilon, 2) + "," : "") + " would give one; " + missing.weakest +
      " needs most.") : null,
    plot ? [element("h3", {}, ratio ? ratio[0].toUpperCase() + ratio.slice(1) + "s" : "Estimates"), plot] : null];
}

function weightPart(result) {
  const classes = result.weights[0].values.length;
  const columns = [{ title: "Feature (encoded)", cell: one => one.name }];
  for (let k = 0; k < classes; k++)
    columns.push({ title: classes > 1 ? result.class_names[k] || "class " + k : "Weight", number: true,
      cell: one => number(one.values[k]) });
  return [element("h3", {}, "Weights"), table(columns, result.weights, "weights")];
}

function resultPart(study, result) {
  const guarantee = result.guarantee;
  const parts = [element("h3", {}, "Result"), element("div", { class: "cards" },
    card(guarantee.parties || "–", result.report ? "parties in the report" : "parties in the model"),
    card(guarantee.private ? "ε = " + number(guarantee.charged.epsilon) : "none", guarantee.private
      ? "charged per " + guarantee.charged.unit + (guarantee.charged.delta ? ", δ = " + number(guarantee.charged.delta) : "")
      : "privacy promised")),
  element("p", {}, element("button", { type: "button", id: "download", onclick: () =>
    download("/v1/studies/" + encodeURIComponent(study.name) + "/model", study.name + ".model.json").catch(report) },
  result.report ? "Download the report" : "Download the model"))];
  if (result.report) parts.push(reportPart(result.report));
  else if (result.estimates) parts.push(coefficientPart(result.estimates, result.ratio));
  else if (result.weights && result.weights.length > 0) parts.push(weightPart(result));
  if (result.validation) parts.push(element("h3", {}, "Cross-validation"), reportPart(result.validation));
  if (result.missing_counts) parts.push(element("h3", {}, "Missing values"), reportPart(result.missing_counts, "missing"));
  return parts;
}

// On the labelled rows that the coordinator was started with.
function curvePart(curve) {
  if (!curve || curve.points.length === 0) return null;
  return [element("h3", {}, "ROC curve"), rocChart(curve.points),
    element("p", { class: "soft", id: "auc" }, "AUC " + number(curve.auc) + (curve.low === null ? ""
      : ", " + number(100 * curve.level) + " % interval " + number(curve.low) + " … " + number(curve.high) + " (DeLong)") +
      ", on " + curve.rows + " labelled rows of the coordinator")];
}

async function showStudy(name) {
  const at = "/v1/studies/" + encodeURIComponent(name);
  const [study, explanation, told, people, asked] = await Promise.all([request("GET", at), request("GET", at + "/explanation"),
    request("GET", at + "/rounds"), request("GET", at + "/parties"), request("GET", at + "/applicants")]);
  const ended = study.state === "done" || study.state === "closed";
  const result = ended ? await request("GET", at + "/result").catch(problem => {
    if (problem.status !== 404) throw problem;
    return null; // closed without a model
  }) : null;
  const curve = result ? await request("GET", at + "/curve").catch(problem => {
    if (problem.status === 401) throw problem;
    return null; // its rows do not fit, say: the program's log and tacit evaluate tell why
  }) : null;
  if (location.hash !== "#/study/" + encodeURIComponent(name)) return; // gone elsewhere meanwhile
  document.title = "Tacit: " + name;
  const last = told.rounds[told.rounds.length - 1];
  showParts(name, [
    ["head", [study.title, study.state, study.reason], () => [element("p", {}, element("a", { href: "#/" }, "All studies")),
      element("h2", {}, study.title, " ", state(study)),
      study.reason ? element("p", { class: study.state === "done" ? "soft" : "error" }, study.reason) : null]],
    ["about", [study.description, study.approval, study.consent_document, study.schedule, study.version, study.parties.outdated, study.parties.followed],
      () => aboutPart(study)],
    ["actions", study.state, () => actionPart(study)],
    ["applicants", asked, () => applicantsPart(study, asked.applicants)],
    ["manage", study.state, () => managePart(study)],
    ["cards", [study.state, study.parties, study.rounds, study.step, last], () => partyCards(study, told.rounds)],
    ["progress", study.progress, () => progressPart(study.progress)],
    ["parties", [study.state, people], () => partiesPart(study, people)],
    ["target", study.target, () => targetPart(study.target)],
    ["result", result, () => result ? resultPart(study, result) : null],
    ["curve", curve, () => curvePart(curve)],
    ["rounds", told, () => roundsPart(told)],
    ["explanation", explanation, () => element("details", { id: "details", open: "" },
      element("summary", {}, element("strong", {}, "Who learns what")), whoLearnsWhat(explanation))],
  ]);
}

// Draw what the address asks for, if it has changed. One drawing at a time; the last state wins.
let drawing = Promise.resolve();
function draw() {
  drawing = drawing.then(async () => {
    if (!page.token || !views.latest) return;
    const study = /^#\/study\/([^/]+)$/.exec(location.hash);
    const name = study ? decodeURIComponent(study[1]) : null;
    const amended = /^#\/amend\/([^/]+)$/.exec(location.hash);
    if (amended || location.hash === "#/new") { // forms are drawn once: what was typed stays
      if (views.drawn === location.hash) return;
      if (amended) await showAmend(decodeURIComponent(amended[1])); else showCreate();
      views.drawn = location.hash;
      return;
    }
    const shown = location.hash + JSON.stringify(name ? views.latest.studies.find(one => one.name === name) : views.latest);
    if (shown === views.drawn) return;
    if (name) await showStudy(name); else showStudies(views.latest);
    views.drawn = shown;
  }).catch(report);
  return drawing;
}

page.start = async () => {
  views.drawn = null;
  views.latest = await request("GET", "/v1/studies");
  await draw();
  watch(latest => { views.latest = latest; draw(); });
};

// When parties were last seen moves on without any event.
setInterval(() => {
  if (document.visibilityState === "visible" && document.getElementById("parties") && page.token) { views.drawn = null; draw(); }
}, 5000);

window.addEventListener("hashchange", () => draw().then(() => document.getElementById("main").focus()));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { views.drawn = null; draw(); });
enter();
