// A person's own store on the page: what is in it and where it came from, what is due, forms, and rules. What a condition hides and how answers
// are scored is decided by the program, and asked for here.
"use strict";

const person = { form: null, language: null };

async function act(message, what) {
  try {
    message.textContent = "";
    await what();
  } catch (problem) {
    if (problem.status === 401) report(problem);
    else message.textContent = problem.message;
  }
}

function unlockPart() {
  const message = element("p", { class: "error", role: "alert" });
  const field = element("input", { id: "passphrase", type: "password", autocomplete: "off", required: "" });
  return [element("h2", {}, "My data"),
    element("p", {}, "What you keep at home is locked. Your passphrase opens it for this page, until you lock it again or the program ends."),
    element("form", { onsubmit: event => { event.preventDefault(); act(message, async () => {
      await request("POST", "/v1/party/store/unlock", { passphrase: field.value });
      await page.start();
    }); } }, element("label", { for: "passphrase" }, "Passphrase"), field, " ", element("button", { class: "unlock" }, "Open my data")), message];
}

function days(source) {
  if (source.rows === 0) return "no rows yet";
  return (source.rows === 1 ? "1 row" : source.rows + " rows") + ", " + (source.first === source.last ? source.first : source.first + " to " + source.last);
}

function promptWords(prompt) {
  if (prompt.due) return "Due now.";
  return prompt.next ? "Due again on " + prompt.next + "." : "Answered; it is asked once.";
}

function sourcePart(source) {
  const prompt = source.prompt;
  return element("section", { class: "group", "aria-label": source.name },
    element("h3", {}, prompt ? prompt.title : source.name, prompt && prompt.due ? element("span", { class: "state asked" }, "due") : ""),
    element("p", { class: "soft" }, source.name + ": " + days(source) + "; " + source.columns.map(column => column.name + (column.unit ? " (" + column.unit + ")" : "")).join(", ")),
    source.origins.length > 0 ? element("p", { class: "soft" }, "From " + source.origins.map(origin => origin.from).join("; ")) : "",
    prompt ? element("p", {}, promptWords(prompt), " ", element("button", { type: "button", class: "answer", "data-name": source.name,
      onclick: () => openForm(source.name).catch(report) }, prompt.due ? "Answer now" : "Answer again")) : "");
}

function dataPart(store) {
  const message = element("p", { class: "error", role: "alert" });
  const due = store.sources.filter(source => source.prompt && source.prompt.due).length;
  return [element("h2", {}, "My data"),
    element("p", {}, due === 0 ? "Nothing is due." : due === 1 ? "One questionnaire is due." : due + " questionnaires are due."),
    store.sources.length === 0 ? element("p", {}, "Nothing is in your store yet: tacit store take, tacit store import.") : store.sources.map(sourcePart),
    element("p", {}, element("button", { type: "button", class: "lock", onclick: () => act(message, async () => {
      await request("POST", "/v1/party/store/lock", {});
      await page.start();
    }) }, "Lock my data")), message];
}

// ---- rules ----

const verdicts = { allow: "may use", ask: "must ask before using", refuse: "may not use" };

function ruleWords(rule) {
  return (rule.who === "*" ? "Every study" : rule.who) + " " + verdicts[rule.reuse] + " " + (rule.source === "*" ? "everything" : rule.source) +
    (rule.purpose ? ": " + rule.purpose : "") + ".";
}

function labelled(id, text, field) { return element("p", {}, element("label", { for: id }, text), " ", field); }

function rulesPart(store) {
  const message = element("p", { class: "error", role: "alert" });
  const who = element("input", { id: "rule-who", value: "*", required: "" });
  const source = element("select", { id: "rule-source" }, element("option", { value: "*" }, "everything"),
    store.sources.map(one => element("option", { value: one.name }, one.name)));
  const reuse = element("select", { id: "rule-reuse" }, Object.entries(verdicts).map(([value, words]) => element("option", { value }, words)));
  return [element("h2", {}, "My rules"),
    element("ul", {}, store.rules.map(rule => element("li", {}, ruleWords(rule)))),
    element("p", { class: "soft" }, "The most particular rule counts. Without one, a study that asks for what is here must ask you."),
    element("form", { class: "rule", onsubmit: event => { event.preventDefault(); act(message, async () => {
      await request("POST", "/v1/party/store/rules", { who: who.value, source: source.value, reuse: reuse.value });
      await page.start();
    }); } }, labelled("rule-who", "A study or a coordinator, by its name (* for all)", who), labelled("rule-reuse", "which", reuse),
    labelled("rule-source", "what", source), element("button", {}, "Set this rule")), message];
}

// ---- the budget in plain words ----

function budgetWords(account) {
  if (account.exact || typeof account.spent !== "number") return "Exact answers have left: your privacy budget no longer bounds what can be learned.";
  if (typeof account.limit !== "number") return "You have set no privacy budget; studies have used " + number(account.spent) + ".";
  return "Of your privacy budget of " + number(account.limit) + ", studies have used " + number(account.spent) + ".";
}

function plainLedgerPart(ledger) {
  const accounts = ledger.sources.flatMap(source => source.source.startsWith("store:") ? source.accounts : []);
  return [element("h2", {}, "My privacy budget"),
    accounts.length === 0 ? element("p", {}, "No study has asked about your data yet.") : accounts.map(account => element("p", { class: "budget" }, budgetWords(account)))];
}

// ---- forms ----

function said(texts) { return texts[person.language] || Object.values(texts)[0] || ""; }

function answersOf(form) {
  const answers = {};
  for (const [name, value] of new FormData(form)) if (value !== "") answers[name] = value;
  return answers;
}

function radios(item, choices) {
  return element("fieldset", {}, element("legend", {}, said(item.ask), item.required ? " (required)" : ""), choices.map((choice, at) => {
    const id = "item-" + item.name + "-" + at;
    return element("div", { class: "choice" }, element("input", { type: "radio", id, name: item.name, value: choice.value }), " ",
      element("label", { for: id }, choice.says ? said(choice.says) : choice.value));
  }));
}

function scalePoints(item) {
  const points = [];
  for (let value = item.low; value <= item.high; value++) points.push({ value: String(value) });
  return points;
}

function itemPart(item) {
  if (item.kind === "choice") return radios(item, item.choices);
  if (item.kind === "scale") return radios(item, item.choices.length > 0 ? item.choices : scalePoints(item));
  const id = "item-" + item.name, kinds = { number: "number", date: "date" };
  const field = item.kind === "text" ? element("textarea", { id, name: item.name, maxlength: 2000, rows: 3 })
    : element("input", { id, name: item.name, type: kinds[item.kind], min: item.low, max: item.high, step: item.kind === "number" ? "any" : null });
  return element("div", {}, element("label", { for: id }, said(item.ask), item.required ? " (required)" : ""), " ", field);
}

async function showItems(form) {
  const { shown } = await request("POST", "/v1/party/questionnaires/" + encodeURIComponent(person.form.name) + "/shown", { answers: answersOf(form) });
  for (const part of form.querySelectorAll("[data-item]")) part.hidden = !shown.includes(part.dataset.item);
}

function languagePart(again) {
  const form = person.form;
  if (form.languages.length < 2) return "";
  const field = element("select", { id: "language", onchange: event => { person.language = event.target.value; again(); } },
    form.languages.map(one => element("option", { value: one, selected: one === person.language ? "" : null, lang: one }, one)));
  return labelled("language", "Language", field);
}

function drawForm() {
  const questions = person.form, message = element("p", { class: "error", role: "alert" });
  const form = element("form", { class: "questionnaire", novalidate: "", onchange: () => act(message, () => showItems(form)),
    onsubmit: event => { event.preventDefault(); act(message, async () => {
      const hidden = new Set(Array.from(form.querySelectorAll("[data-item][hidden]"), part => part.dataset.item));
      const answers = Object.fromEntries(Object.entries(answersOf(form)).filter(([name]) => !hidden.has(name)));
      const { scores } = await request("POST", "/v1/party/questionnaires/" + encodeURIComponent(questions.name) + "/answers", { answers });
      drawKept(scores);
    }); } },
    questions.items.map(item => element("div", { class: "item", "data-item": item.name, hidden: item.shown ? null : "" }, itemPart(item))),
    element("p", {}, element("button", { class: "keep" }, "Keep my answers"), " ", element("button", { type: "button", class: "back", onclick: closeForm }, "Back without keeping")));
  const heading = element("h2", { tabindex: "-1" }, said(questions.title));
  show(element("div", { lang: person.language, class: "form" }, heading, said(questions.about) ? element("p", { class: "lines" }, said(questions.about)) : "",
    element("p", { class: "soft" }, "Version " + questions.version + ", " + questions.licence + (questions.signed ? ", signed" : ", not signed") + ". Your answers stay on this device."),
    languagePart(drawForm), form, message));
  heading.focus();
}

function drawKept(scores) {
  const heading = element("h2", { tabindex: "-1" }, "Your answers are kept");
  show(heading, Object.entries(scores).map(([name, value]) => element("p", { class: "score" }, value === null ? name + ": too few answers for a score." : name + ": " + value)),
    element("p", {}, element("button", { type: "button", class: "back", onclick: closeForm }, "Back to my page")));
  heading.focus();
}

async function openForm(name) {
  const form = await request("GET", "/v1/party/questionnaires/" + encodeURIComponent(name));
  const wanted = (navigator.language || "").split("-")[0];
  person.form = form;
  person.language = form.languages.includes(wanted) ? wanted : form.languages[0];
  drawForm();
}

function closeForm() {
  person.form = null;
  page.start().catch(report);
}

// ---- the catalogue ----

function offerPart(offer) {
  return element("section", { class: "group", "aria-label": offer.study }, element("h3", {}, offer.title, " ", element("span", { class: "state" }, offer.you)),
    element("p", { class: "soft" }, offer.study + " of " + offer.coordinator + ", " + offer.state + "; " + offer.method + (offer.approval ? "; approved: " + offer.approval : "")),
    element("p", {}, "Price: " + offer.price + ". " + offer.guarantee), offer.you === "offered to you" ? enrolPart({ study: offer.study }) : null);
}

const answers = { accepted: "You may join.", waiting: "The researchers decide; ask again later.", declined: "The researchers do not take you." };

// Ask to join; the invitation is made and kept on this machine.
function enrolPart(wanted) {
  const outcome = element("p", { role: "status" }), message = element("p", { class: "error", role: "alert" });
  return element("div", {}, element("button", { type: "button", class: "enrol", "data-study": wanted.study, onclick: () => act(message, async () => {
    const { state, invitation } = await request("POST", "/v1/party/enrol", wanted);
    outcome.replaceChildren(answers[state], ...(state === "accepted" ? [" ", element("button", { type: "button", class: "open-joining", "data-study": wanted.study,
      onclick: () => act(message, () => openJoining(wanted.study)) }, "Read what it asks, and join"), " or in a terminal: ", element("code", {}, "tacit look " + invitation)] : []));
  }) }, "Ask to join " + wanted.study), outcome, message);
}

function publicPart(study, address) {
  const facts = [["Who may join", study.enrolment === "open" ? "anybody who asks" : "whoever asks and is accepted"], ["Only if, as this device finds out", study.settings.eligible],
    ["Approved by", study.approval], ["What leaves your device", study.explanation.leaves], ["Price", study.explanation.charged.epsilon === "inf" ? "exact sums, without differential privacy" : price(study.explanation.charged)]];
  return element("section", { class: "group", "aria-label": study.name }, element("h3", {}, study.title), study.description ? element("p", { class: "lines" }, study.description) : null,
    element("dl", { class: "panel" }, facts.filter(one => one[1]).map(one => [element("dt", {}, one[0]), element("dd", {}, one[1])])), enrolPart({ study: study.name, address }));
}

// What anybody may read, at an address that the person was given.
function publicForm() {
  const message = element("p", { class: "error", role: "alert" }), list = element("div", { "aria-live": "polite" });
  const address = element("input", { id: "catalogue-address", autocomplete: "off", required: "", placeholder: "https://…/#…" });
  return [element("form", { class: "catalogue", onsubmit: event => { event.preventDefault(); act(message, async () => {
    const { studies } = await request("POST", "/v1/party/catalogue", { address: address.value.trim() });
    list.replaceChildren(...(studies.length === 0 ? [element("p", {}, "No study takes whoever asks at the moment.")] : studies.map(study => publicPart(study, address.value.trim()))));
  }); } }, element("label", { for: "catalogue-address" }, "Address of a public catalogue"), address, " ", element("button", {}, "Read it")), list, message];
}

function cataloguePart() {
  const message = element("p", { class: "error", role: "alert" }), list = element("div", { "aria-live": "polite" });
  return [element("h2", {}, "Catalogue"), element("p", {}, element("button", { type: "button", class: "look", onclick: () => act(message, async () => {
    const { offers } = await request("GET", "/v1/party/catalogue");
    list.replaceChildren(...(offers.length === 0 ? [element("p", {}, "No coordinator that you know offers a study now.")] : offers.map(offerPart)));
  }) }, "Ask the coordinators I know for studies")), list, message, publicForm()];
}

// The parts of the page for someone with a store; none for others. As showParts takes them.
function personParts(store, ledger) {
  if (!store.exists) return [];
  if (!store.open) return [["mine", store, () => unlockPart()]];
  return [["mine", store, () => dataPart(store)], ["budget", ledger.sources.map(source => source.accounts), () => plainLedgerPart(ledger)],
    ["rules", store, () => rulesPart(store)], ["catalogue", null, cataloguePart]];
}
