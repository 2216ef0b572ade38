// Joining a study on a person's page: what it asks and costs, in the words of `tacit join`; which data of the store it would use; what the person allows; and the consent.
// The program reads, checks and joins; nothing is decided here.
"use strict";

// The lines of `tacit join`, "name       text", and further lines of a text without a name.
function termsList(text) {
  const parts = [];
  for (const line of text.split("\n").filter(one => one.trim() !== "")) {
    const warning = /^warning: (.*)$/.exec(line), named = /^(.{10}) (.*)$/.exec(line);
    const name = warning ? "warning" : named ? named[1].trim() : "", words = warning ? warning[1] : named ? named[2] : line;
    if (name === "" && parts.length > 0) parts[parts.length - 1][1] += "\n" + words;
    else parts.push([name, words]);
  }
  return element("dl", { class: "panel", id: "join-terms" }, parts.map(([name, words]) => [element("dt", {}, name), element("dd", { class: name === "warning" ? "error" : null }, words)]));
}

const joining = { study: null, found: null, sources: [], allowed: new Set() };

// Sources that have a column the study needs; the rows are those of the one with its outcome.
function suggested(found) {
  const wanted = found.columns.filter(column => column.name !== "day" && column.in.length > 0);
  const first = wanted.find(column => column.role === "label") || wanted[0];
  if (!first) return [];
  return [...new Set([first.in[0], ...wanted.filter(column => !column.in.includes(first.in[0])).map(column => column.in[0])])];
}

async function lookAtStudy() {
  joining.found = await request("POST", "/v1/party/joining", { study: joining.study, sources: joining.sources, allow: [...joining.allowed] });
}

async function openJoining(study) {
  Object.assign(joining, { study, sources: [], allowed: new Set() });
  await lookAtStudy();
  joining.sources = suggested(joining.found);
  if (joining.sources.length > 0) await lookAtStudy();
  person.form = { joining: study };
  drawJoining();
}

// A sentence of the program names an option; here that is a box.
function inBoxes(sentence) {
  return sentence.replace(/the option '([a-z-]+)'/g, (words, option) => {
    const asked = joining.found.asks.find(one => one.option === option);
    return asked ? "the box “" + asked.says.split(/[,;(]/)[0].trim() + " …”" : words;
  });
}

function chosenSources() {
  const first = document.getElementById("join-first").value;
  const ticked = Array.from(document.querySelectorAll("input[name=join-source]:checked"), box => box.value);
  return ticked.includes(first) ? [first, ...ticked.filter(name => name !== first)] : ticked;
}

const reuseWords = { allow: "your rules allow it", ask: "your rules say that you are asked", refuse: "your rules refuse it" };

function joinSourcesPart() {
  const found = joining.found;
  const boxes = found.sources.map((one, at) => element("div", { class: "choice" }, element("input", { type: "checkbox", id: "join-source-" + at, name: "join-source", value: one.name,
    checked: joining.sources.includes(one.name) ? "" : null }), " ", element("label", { for: "join-source-" + at }, one.name + " (" + (one.rows === 1 ? "1 row" : one.rows + " rows") +
    "): " + reuseWords[one.reuse])));
  const columns = [{ title: "Column", cell: one => one.name + (one.role === "label" ? " (outcome)" : "") }, { title: "Values", cell: one => one.values },
    { title: "In my store", cell: one => one.in.length > 0 ? one.in.join(", ") : "nowhere" }];
  return element("fieldset", { id: "join-data" }, element("legend", {}, "Which of my data it would use"), table(columns, found.columns, "columns that the study needs"), boxes,
    element("label", { for: "join-first" }, "Rows are those of"), element("select", { id: "join-first" },
      found.sources.map(one => element("option", { value: one.name, selected: one.name === joining.sources[0] ? "" : null }, one.name))),
    element("p", { class: "soft hint" }, "Each with what was last known of the others on its day. They are brought together here, and stay here."));
}

// Questionnaires that are part of the study: answers become rows of the store.
function questionnairesPart(message) {
  if (joining.found.questionnaires.length === 0) return null;
  return element("section", { "aria-label": "questionnaires of the study" }, element("h3", {}, "Its questionnaires"), joining.found.questionnaires.map(one => element("p", {},
    one.title + " (" + one.name + ", version " + one.version + (one.signed ? ", signed" : ", not signed") + "). ", one.held ? "It is in your store: answer it on your page."
      : element("button", { type: "button", class: "take-up", "data-name": one.name, onclick: () => act(message, async () => {
        await request("POST", "/v1/party/questionnaires", { study: joining.study, name: one.name });
        await lookAtStudy();
        drawJoining();
      }) }, "Take it up"))));
}

function allowPart() {
  return element("fieldset", { id: "join-allow", onchange: () => { joining.allowed = new Set(Array.from(document.querySelectorAll("input[name=join-allow]:checked"), box => box.value)); } },
    element("legend", {}, "What I allow"), joining.found.asks.map(one => element("div", { class: "choice" }, element("input", { type: "checkbox", id: "join-" + one.option, name: "join-allow",
      value: one.option, checked: joining.allowed.has(one.option) ? "" : null }), " ", element("label", { for: "join-" + one.option }, one.says))));
}

// Without a limit nothing with a price leaves: the first one can be set here.
function limitPart(message) {
  if (!/^no limit is set/.test(joining.found.problem || "")) return null;
  const epsilon = element("input", { id: "limit-epsilon", inputmode: "decimal", autocomplete: "off", required: "" });
  const delta = element("input", { id: "limit-delta", inputmode: "decimal", autocomplete: "off", value: "1e-5" });
  return element("form", { class: "limit", onsubmit: event => { event.preventDefault(); act(message, async () => {
    await request("POST", "/v1/party/limit", { epsilon: Number(epsilon.value), delta: Number(delta.value) });
    await lookAtStudy();
    drawJoining();
  }); } }, element("h3", {}, "My privacy budget"), element("p", {}, "What all studies together may use of your data. Without one, nothing that has a price leaves."),
    element("label", { for: "limit-epsilon" }, "Epsilon of all studies together"), epsilon, element("label", { for: "limit-delta" }, "at this delta"), delta, " ",
    element("button", {}, "Set my budget"));
}

async function takePart() {
  if (JSON.stringify(chosenSources()) !== JSON.stringify(joining.sources)) throw new Error("You chose other data than those that were read: read again first.");
  try {
    await request("POST", "/v1/party/join", { study: joining.study, version: joining.found.version, sources: joining.sources, allow: [...joining.allowed] });
  } catch (problem) {
    problem.message = inBoxes(problem.message);
    throw problem;
  }
  person.form = null;
  await page.start();
  const part = document.querySelector("section[aria-label='" + CSS.escape(joining.study) + "'] h3");
  if (part) {
    part.tabIndex = -1;
    part.focus();
  }
}

function drawJoining() {
  const found = joining.found, message = element("p", { class: "error", role: "alert" });
  const heading = element("h2", { tabindex: "-1" }, "Join " + found.study + ": " + found.title);
  const again = () => act(message, async () => {
    joining.sources = chosenSources();
    await lookAtStudy();
    drawJoining();
  });
  show(element("div", { class: "joining" }, heading,
    element("p", {}, "Read what it asks and what leaves. Nothing is promised, and nothing about your data leaves, before you consent at the end."),
    termsList(found.terms), questionnairesPart(message), joinSourcesPart(), allowPart(),
    element("p", { id: "join-problem", role: "status", class: found.problem ? "error" : "good" }, found.problem ? "Not yet: " + inBoxes(found.problem) : "With these data, and what you allow, you can join."),
    limitPart(message),
    element("p", {}, element("button", { type: "button", class: "again", onclick: again }, "Read again with this choice"), " ",
      element("button", { type: "button", class: "consent-join", onclick: () => act(message, takePart) }, "I consent, and join"), " ",
      element("button", { type: "button", class: "back", onclick: closeForm }, "Back without joining")), message));
  heading.focus();
}

// How it stands with a study that was joined here.
function answeringPart(study) {
  if (!study.page || study.ended || study.consent !== "given") return null;
  const words = !study.page.open ? "It was joined on this page, which answers for it while your data are open." : "This page answers for it: " + (study.page.says || "beginning") + ".";
  return element("p", { class: "answering", role: "status" }, words);
}
