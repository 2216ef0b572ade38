// Making a study in the browser: a form whose words become the same YAML that `tacit study new` reads, checked by the same code; then invitations, applicants, amendments and
// the archive.
"use strict";

// One line of YAML: text is always quoted.
function yamlLine(key, value) { return key + ": " + JSON.stringify(value) + "\n"; }

function yamlBlock(key, text) {
  return key + ": |2\n" + text.replace(/\s+$/, "").split("\n").map(line => "  " + line + "\n").join("");
}

const drafting = { typed: "", schema: "", columns: [], kind: "class", methods: [], settings: [] };

function field(id, label, attributes, hint) {
  const kind = attributes.kind || "input";
  const made = element(kind, { ...attributes, kind: null, id, name: id, "aria-describedby": hint ? id + "-hint" : null });
  return [element("label", { for: id }, label), made, hint ? element("p", { class: "soft hint", id: id + "-hint" }, hint) : null];
}

function choice(id, label, options, hint) {
  return [element("label", { for: id }, label), element("select", { id, name: id, "aria-describedby": hint ? id + "-hint" : null },
    options.map(([value, text]) => element("option", { value }, text))), hint ? element("p", { class: "soft hint", id: id + "-hint" }, hint) : null];
}

function said(id) { return document.getElementById(id).value.trim(); }

// The columns that were ticked, as R writes it; nothing where it is all of them.
function chosenTerms() {
  const outcome = drafting.columns.find(one => one.role === "label");
  const boxes = Array.from(document.querySelectorAll("#terms input"));
  const ticked = boxes.filter(box => box.checked).map(box => box.value);
  if (!outcome || ticked.length === boxes.length) return "";
  const quoted = name => /^[A-Za-z.][A-Za-z0-9._]*$/.test(name) ? name : "`" + name + "`";
  return quoted(outcome.name) + " ~ " + (ticked.length > 0 ? ticked.map(quoted).join(" + ") : "1");
}

// When there is enough: an effect of this size would be found with this probability. Nothing where no effect is named.
function stopLine() {
  if (!said("stop-effect")) return "";
  const parts = ["power: {column: " + JSON.stringify(said("stop-column")) + ", effect: " + said("stop-effect") + ", at_least: " + (said("stop-power") || "0.8") + "}"];
  if (said("stop-looks")) parts.push("looks: " + said("stop-looks"));
  if (said("stop-more")) parts.push("more: " + said("stop-more"));
  if (document.getElementById("stop-validate").checked) parts.push("then: validate");
  return "stop: {" + parts.join(", ") + "}\n";
}

// What the form says, as a definition.
function definitionText() {
  let text = "name: " + said("study-name") + "\n" + yamlLine("title", said("study-title"));
  if (said("question")) text += yamlBlock("description", said("question"));
  if (said("approval")) text += yamlLine("approval", said("approval"));
  if (said("consent-text")) text += yamlBlock("consent", said("consent-text"));
  const from = said("from"), until = said("until");
  if (from || until) text += "schedule: {" + [from ? "from: " + from : null, until ? "until: " + until : null].filter(one => one).join(", ") + "}\n";
  text += "method: " + said("method") + "\n";
  if (said("epsilon")) text += "epsilon: " + said("epsilon") + "\n";
  if (said("delta")) text += "delta: " + said("delta") + "\n";
  text += "parties: {expected: " + said("expected-parties") + ", minimum: " + (said("minimum") || said("expected-parties")) + "}\n";
  text += "minimum_rows: " + said("minimum-rows") + "\n" + stopLine();
  if (said("expected-rows")) text += "expected_rows: " + said("expected-rows") + "\n";
  if (said("enrolment") !== "invite") text += "enrolment: " + said("enrolment") + "\n";
  if (said("eligible")) text += yamlLine("eligible", said("eligible"));
  if (document.getElementById("compensation") && said("compensation")) text += yamlLine("compensation", said("compensation"));
  if (document.getElementById("ask-again").checked) text += "ask_again: yes\n";
  if (document.getElementById("archive-ended").checked) text += "archive: yes\n";
  if (said("instrument")) text += "instruments:\n  - |2\n" + document.getElementById("instrument").value.replace(/\n*$/, "\n").replace(/^/gm, "    ").replace(/ +$/, "");
  text += yamlBlock("schema", drafting.schema);
  const terms = chosenTerms();
  if (terms) text += yamlLine("terms", terms);
  return text;
}

// The consent page as a participant will see it.
function consentPreview(checked) {
  const consent = checked.consent;
  return element("section", { id: "preview", "aria-labelledby": "preview-title" },
    element("h3", { id: "preview-title" }, "What a participant will read"),
    element("div", { class: "card" }, element("h4", {}, consent.title),
      consent.description ? element("p", { class: "lines" }, consent.description) : null,
      element("ul", {}, consent.lines.map(one => element("li", {}, one.line))),
      consent.document ? [element("h4", {}, "Consent document"), element("p", { class: "lines" }, consent.document)] : null,
      element("p", {}, element("strong", {}, "Price: "), checked.price && checked.price.epsilon !== "inf" ? price(checked.price)
        : "exact sums, which no differential privacy protects")),
    element("details", { open: "" }, element("summary", {}, element("strong", {}, "Who learns what")), whoLearnsWhat(consent.explanation)));
}

function remarksPart(remarks) {
  return remarks.length > 0 ? element("ul", { id: "remarks" }, remarks.map(one => element("li", { class: one.kind === "warning" ? "error" : null }, one.line))) : null;
}

async function checkForm(outcome) {
  outcome.replaceChildren(element("p", { role: "status" }, "Checking …"));
  try {
    const checked = await request("POST", "/v1/definitions", { definition: definitionText() });
    outcome.replaceChildren(...[element("p", { role: "status", class: "good" }, "The definition is right. Nothing is saved yet."), remarksPart(checked.remarks), consentPreview(checked),
      element("details", {}, element("summary", {}, "The definition as YAML"), element("pre", { id: "yaml", tabindex: "0" }, definitionText()))].filter(one => one));
    return true;
  } catch (problem) {
    if (problem.status === 401) return report(problem);
    outcome.replaceChildren(element("p", { class: "error", role: "alert" }, problem.message));
    return false;
  }
}

async function saveForm(outcome) {
  try {
    const made = await request("POST", "/v1/studies", { definition: definitionText(), draft: true, force: document.getElementById("force").checked });
    location.hash = "#/study/" + encodeURIComponent(made.study);
    await page.start();
  } catch (problem) {
    if (problem.status === 401) return report(problem);
    outcome.replaceChildren(element("p", { class: "error", role: "alert" }, problem.message));
  }
}

// ---- the outcome ----

const outcomeWords = { class: "a class", number: "a number", count: "a count", time: "a time until an event" };

// What the program says of the schema, with this outcome where one is named: as it is drafted from then on.
async function readSchema(outcome) {
  const found = await request("POST", "/v1/schemas", outcome ? { schema: drafting.schema, outcome } : { schema: drafting.typed });
  Object.assign(drafting, found);
}

// Another column of the schema as the outcome. The program exchanges it with the label, and says what it cannot be.
function outcomePart() {
  const label = drafting.columns.find(one => one.role === "label");
  const message = element("p", { class: "error", role: "alert" });
  const options = drafting.columns.flatMap(one => one.outcome.map(kind => [JSON.stringify([one.name, kind]), one.name + ", as " + outcomeWords[kind]]));
  const take = async () => {
    const [column, kind] = JSON.parse(said("outcome-column"));
    const event = kind === "time" && said("outcome-event") ? { event: said("outcome-event") } : {};
    message.textContent = "";
    try {
      await readSchema({ column, kind, ...event });
      document.getElementById("terms").replaceWith(termsPart());
      document.getElementById("outcome-column").focus();
    } catch (problem) {
      if (problem.status === 401) report(problem);
      else message.textContent = problem.message;
    }
  };
  const made = element("details", { id: "other-outcome" }, element("summary", {}, "Take another column as the outcome"),
    choice("outcome-column", "Outcome", options, "What was the outcome becomes a column."),
    choice("outcome-event", "Of a time: the event", [["", "none"], ...drafting.columns.filter(one => one.event).map(one => [one.name, one.name])],
      "The column that is 1 where the event was seen then, and 0 where it was not."),
    element("p", {}, element("button", { type: "button", id: "take-outcome", onclick: take }, "Take it")), message);
  if (label) made.querySelector("#outcome-column").value = JSON.stringify([label.name, drafting.kind]);
  return made;
}

function termsPart() {
  const labels = drafting.columns.filter(one => one.role === "label"), columns = drafting.columns.filter(one => one.role === "column");
  return element("fieldset", { id: "terms", class: "choice" }, element("legend", {}, "Outcome and terms"),
    element("p", {}, "Outcome: ", element("strong", {}, labels.length > 0 ? labels.map(one => one.name).join(", ") : "none"), labels.length > 0 ? " (" + labels[0].values + ")" : ""),
    outcomePart(),
    columns.map((one, i) => element("div", {}, element("input", { type: "checkbox", id: "term-" + i, value: one.name, checked: "" }), " ",
      element("label", { for: "term-" + i }, one.name + " (" + one.values + ")"))));
}

// The rest of the form, once the columns are known.
function studyForm() {
  const outcome = element("div", { id: "outcome" });
  const press = act => event => { event.preventDefault(); act(outcome); };
  return element("form", { id: "create", onsubmit: press(checkForm) },
    element("fieldset", {}, element("legend", {}, "What it is about"),
      field("study-name", "Name", { required: "", pattern: "[a-z0-9][a-z0-9\\-]{0,39}", autocomplete: "off" }, "1 to 40 of a to z, digits and -"),
      field("study-title", "Title", { required: "", maxlength: 199 }),
      field("question", "Question", { kind: "textarea", rows: 3 }, "What the study is for, in words that participants understand."),
      field("approval", "Approval", {}, "Who approved it, such as an ethics board.")),
    termsPart(),
    element("fieldset", {}, element("legend", {}, "Method and price"),
      choice("method", "Method", drafting.methods.map(one => [one.name, one.name + ": " + one.title + (one.exact ? " (no noise)" : "")])),
      field("epsilon", "Epsilon", { inputmode: "decimal", autocomplete: "off" }, "The price of the whole study; empty for a method without noise."),
      field("delta", "Delta", { inputmode: "decimal", autocomplete: "off" }),
      field("expected-rows", "Rows of all parties together, as expected", { inputmode: "numeric", autocomplete: "off" }, "With it, checking says how useful the study is expected to be.")),
    element("fieldset", {}, element("legend", {}, "Who takes part"),
      choice("enrolment", "Who may join", [["invite", "whoever is invited"], ["apply", "whoever asks and is accepted"], ["open", "whoever asks"]]),
      field("eligible", "Only if", { autocomplete: "off" }, "A condition on the columns, such as age >= 18. Each participant's own device looks; only the yes leaves."),
      field("expected-parties", "Parties expected", { inputmode: "numeric", required: "", autocomplete: "off" }),
      field("minimum", "Parties at least", { inputmode: "numeric", autocomplete: "off" }, "As many as expected, if empty."),
      field("minimum-rows", "Rows of a party at least", { inputmode: "numeric", required: "", value: "10", autocomplete: "off" }),
      element("div", { class: "choice" }, element("input", { type: "checkbox", id: "ask-again" }), " ",
        element("label", { for: "ask-again" }, "Ask participants whether derived studies may be offered to them"))),
    element("fieldset", {}, element("legend", {}, "When there is enough"),
      field("stop-column", "Coefficient", { autocomplete: "off" }, "As the table of coefficients names it: a column, or a column and its level, such as sex=m."),
      field("stop-effect", "Effect worth finding", { inputmode: "decimal", autocomplete: "off" }, "The study has enough when an effect of this size would be found; for methods with standard errors. Empty: it ends with its last round."),
      field("stop-power", "with probability", { inputmode: "decimal", autocomplete: "off" }, "0.8, if empty."),
      field("stop-looks", "Looks at most", { inputmode: "numeric", autocomplete: "off" }, "One, if empty. A look that falls short recruits again, and asks for consent again."),
      field("stop-more", "Parties more in each further look", { inputmode: "numeric", autocomplete: "off" }),
      element("div", { class: "choice" }, element("input", { type: "checkbox", id: "stop-validate" }), " ",
        element("label", { for: "stop-validate" }, "Then let later participants validate what was found"))),
    element("fieldset", {}, element("legend", {}, "Consent and schedule"),
      field("consent-text", "Consent document", { kind: "textarea", rows: 8 }),
      field("instrument", "Questionnaire", { kind: "textarea", rows: 6, spellcheck: "false" }, "A signed questionnaire (tacit instrument sign), which becomes part of the definition. May be left empty."),
      element("div", { class: "choice" }, element("input", { type: "checkbox", id: "archive-ended" }), " ",
        element("label", { for: "archive-ended" }, "Publish the study in the archive by itself once it has ended")),
      drafting.settings.includes("compensation") ? field("compensation", "Compensation", {}, "One line that participants read.") : null,
      field("from", "Not before", { placeholder: "2027-03-01", autocomplete: "off" }), field("until", "Until", { placeholder: "2027-09-30", autocomplete: "off" })),
    element("p", {}, element("button", { id: "check" }, "Check, and show the consent page"), " ",
      element("button", { type: "button", id: "save", onclick: press(saveForm) }, "Save as a draft")),
    element("div", { class: "choice" }, element("input", { type: "checkbox", id: "force" }), " ",
      element("label", { for: "force" }, "Save it also if it is expected to be worth little")),
    outcome);
}

function showCreate() {
  document.title = "Tacit: a new study";
  const message = element("p", { class: "error", role: "alert" });
  const rest = element("div", {});
  const read = async event => {
    event.preventDefault();
    message.textContent = "";
    drafting.typed = document.getElementById("schema").value;
    try {
      await readSchema();
      rest.replaceChildren(studyForm());
      document.getElementById("study-name").focus();
    } catch (problem) {
      if (problem.status === 401) report(problem);
      else message.textContent = problem.message;
    }
  };
  show(element("p", {}, element("a", { href: "#/" }, "All studies")), element("h2", {}, "A new study"),
    element("form", { onsubmit: read }, field("schema", "Schema", { kind: "textarea", rows: 10, required: "", spellcheck: "false" },
      "The columns of the rows as YAML, as tacit data draft-schema writes it: what is public about them."), element("p", {}, element("button", { id: "read-schema" }, "Read the columns"))), message, rest);
  document.getElementById("schema").value = drafting.typed;
}

// ---- a study that is there ----

async function showAmend(name) {
  const text = await (await send("GET", "/v1/studies/" + encodeURIComponent(name) + "/definition")).text();
  const message = element("p", { class: "error", role: "alert" });
  const amend = async event => {
    event.preventDefault();
    try {
      await request("POST", "/v1/studies/" + encodeURIComponent(name) + "/amend", { definition: said("definition") + "\n" });
      location.hash = "#/study/" + encodeURIComponent(name);
      await page.start();
    } catch (problem) {
      if (problem.status === 401) report(problem);
      else message.textContent = problem.message;
    }
  };
  document.title = "Tacit: amend " + name;
  show(element("p", {}, element("a", { href: "#/study/" + encodeURIComponent(name) }, "Back to " + name)), element("h2", {}, "Amend " + name),
    element("p", {}, "Whoever takes part is asked for consent again. Rounds begin again; what was charged stays charged."),
    element("form", { onsubmit: amend }, field("definition", "Definition", { kind: "textarea", rows: 24, spellcheck: "false", class: "wide" }),
      element("p", {}, element("button", { id: "amend" }, "Amend"))), message);
  document.getElementById("definition").value = text;
}

async function invite(study, part) {
  const called = said("invite-name");
  const made = await request("POST", "/v1/studies/" + encodeURIComponent(study.name) + "/invite", called ? { for: called } : {});
  part.replaceChildren(element("p", { role: "status" }, "One invitation, good once, for seven days. Pass it on like a password:"), element("pre", { id: "invitation", tabindex: "0" }, made.invitations[0]));
}

// Invitations while it recruits, a way to amend, the archive once it has ended.
function managePart(study) {
  const ended = study.state === "done" || study.state === "closed" || study.state === "failed";
  const part = element("div", {}), message = element("p", { class: "error", role: "alert" });
  const tried = act => async event => {
    event.preventDefault();
    message.textContent = "";
    try { await act(); } catch (problem) {
      if (problem.status === 401) report(problem);
      else message.textContent = problem.message;
    }
  };
  const archive = async () => {
    const files = Array.from(document.getElementById("archive-instruments").files);
    const instruments = await Promise.all(files.map(file => file.text()));
    const made = await request("POST", "/v1/studies/" + encodeURIComponent(study.name) + "/archive", { instruments });
    part.replaceChildren(element("p", { role: "status" }, "Archived for good under the id ", element("code", { id: "archived" }, made.id)));
  };
  return element("details", { id: "manage" }, element("summary", {}, element("strong", {}, "Invite, amend, publish")),
    study.state === "recruiting" ? element("form", { onsubmit: tried(() => invite(study, part)) }, field("invite-name", "Invite somebody by name", { autocomplete: "off" }, "May be left empty."),
      element("p", {}, element("button", { id: "invite" }, "Make an invitation"))) : null,
    study.state !== "running" && study.state !== "done" && study.state !== "closed" ? element("p", {}, element("a", { href: "#/amend/" + encodeURIComponent(study.name) }, "Amend the definition")) : null,
    ended ? element("form", { onsubmit: tried(archive) }, field("archive-instruments", "Questionnaires to publish with it", { type: "file", multiple: "", accept: ".yaml,.yml" },
      "May be left empty. Those of the definition go along by themselves."), element("p", {}, element("button", { id: "archive" }, "Publish in the archive"))) : null, part, message);
}

// Who asked to join, and the researcher's word.
function applicantsPart(study, applicants) {
  if (applicants.length === 0) return null;
  const message = element("p", { class: "error", role: "alert" });
  const decide = (one, word) => async () => {
    try {
      await request("POST", "/v1/studies/" + encodeURIComponent(study.name) + "/" + word, { applicant: one.applicant });
      await page.start();
    } catch (problem) {
      if (problem.status === 401) report(problem);
      else message.textContent = problem.message;
    }
  };
  const columns = [
    { title: "Applicant", cell: one => element("code", {}, one.applicant) }, { title: "Asked", cell: one => minute(one.asked) }, { title: "Says", cell: one => one.message || "" },
    { title: "State", cell: one => one.state !== "waiting" ? one.state : ["accept", "decline"].map(word =>
      [element("button", { type: "button", class: word, "aria-label": word + " " + one.applicant, onclick: decide(one, word) }, word === "accept" ? "Accept" : "Decline"), " "]) },
  ];
  return [element("h3", {}, "People who asked to join"), table(columns, applicants, "applicants"), message];
}
