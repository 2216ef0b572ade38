// A party's own page: what is asked, what has left, what is left of the budget, and the owner's word.
"use strict";

const consents = { given: "consent given", withdrawn: "withdrawn", none: "no consent" };

// [class, words] of the badge. Consent to an earlier version is no consent to the one that is asked now.
function badge(study) {
  if (study.ended) return ["ended", study.consent === "withdrawn" ? "ended, withdrawn" : "ended"];
  if (study.amended) return ["asked", study.consent === "given" ? "amended: no consent to the new version" : "amended: " + consents[study.consent]];
  return [study.consent, consents[study.consent]];
}

// What holds now, in one sentence, under the buttons.
function standing(study) {
  const left = "What has left cannot be called back.";
  if (study.ended) return "The study has ended: nothing more is asked. " + left;
  if (study.consent !== "given") return "Nothing leaves for this study" + (study.amended ? "." : " until you consent again, to the version shown here.");
  return "Withdrawing takes effect with the next answer. " + left;
}

async function say(study, word, message, body) {
  try {
    await request("POST", "/v1/party/studies/" + encodeURIComponent(study.id) + "/" + word, body);
    await page.start();
  } catch (problem) {
    if (problem.status === 401) report(problem);
    else message.textContent = problem.message;
  }
}

// A version that the owner has not consented to, a further look among them: all there is to read, and then the button.
function nextPart(study, message) {
  const next = study.next;
  if (!study.amended) return "";
  if (!next) return element("p", { class: "error" }, "It was amended, and nothing leaves for the new version until you consent to it: " +
    "tacit consent " + study.name);
  const look = next.looks > 1 && next.look > study.look;
  // A word of its own, beside the consent: what an earlier version gave and this one would tell together.
  const box = element("input", { type: "checkbox", class: "difference" });
  return element("section", { class: "panel next", "aria-label": "new version of " + study.name },
    element("h4", {}, look ? "Another look: " + next.look + " of at most " + next.looks : "A new version: " + next.title),
    element("p", {}, (look ? "The study asks once more, of " + next.parties + " parties, at a price of its own. "
      : "The coordinator has amended the study. ") + "Nothing leaves for it until you consent. Its price is counted in addition to that of the earlier one."),
    element("p", { class: "soft" }, next.parties + " parties, at least " + next.minimum_rows + " rows each; version " + next.hash.slice(0, 16) + "…"),
    next.description ? element("p", { class: "lines" }, next.description) : "",
    next.approval ? element("p", { class: "soft" }, "Approved: " + next.approval) : "",
    next.document ? element("p", { class: "lines" }, next.document) : "",
    next.past ? element("p", { class: "past" }, next.past) : "",
    whoLearnsWhat(next.explanation),
    next.difference ? element("p", {}, element("label", {}, box, " ", next.difference)) : "",
    element("p", {}, element("button", { type: "button", class: "consent next", onclick: () =>
      say(study, "consent", message, { version: next.hash, allow_difference: box.checked }) }, look ? "Consent to this look" : "Consent to this version")));
}

function studyPart(study) {
  const message = element("p", { class: "error", role: "alert" });
  const given = study.consent === "given";
  const [kind, words] = badge(study);
  const button = given
    ? element("button", { type: "button", class: "danger withdraw", onclick: () => say(study, "withdraw", message) }, study.page ? "Leave this study" : "Withdraw")
    : element("button", { type: "button", class: "consent", onclick: () => say(study, "consent", message) }, "Consent again");
  return element("section", { "aria-label": study.name },
    element("h3", {}, study.title, " ", element("span", { class: "state " + kind }, words)),
    element("p", { class: "soft" }, study.id + ", asked by " + study.coordinator + ", of " + study.source + "; " +
      study.parties + " parties, at least " + study.minimum_rows + " rows each" +
      (study.has_model ? "; the model is in its folder" : "")),
    study.called ? element("p", { class: "soft called" }, "There you are called " + study.called + ".") : "",
    study.distrusted ? element("p", { class: "error" }, "The coordinator says that its authority's key was stolen. Nothing leaves until you confirm the " +
      "fingerprint of the new authority, heard by telephone or in person: tacit follow FINGERPRINT") : "",
    study.authority && !study.distrusted ? element("p", { class: "soft authority" }, "The coordinator's authority was replaced: " + study.authority) : "",
    study.description ? element("p", { class: "lines" }, study.description) : "",
    study.approval ? element("p", { class: "soft" }, "Approved: " + study.approval) : "",
    study.looks > 1 ? element("p", { class: "soft" }, "Look " + study.look + " of at most " + study.looks +
      ": before another one you are asked for consent again.") : "",
    nextPart(study, message), answeringPart(study),
    study.ended || (study.amended && !given) ? "" : element("p", {}, button), element("p", { class: "soft" }, standing(study)), message,
    element("details", {}, element("summary", {}, "What it asks, and who learns what"), whoLearnsWhat(study.explanation)));
}

function when(milliseconds) { return new Date(milliseconds).toISOString().replace("T", " ").slice(0, 19) + "Z"; }

function samePeoplePart(source) {
  return source.same_people.map(other => element("p", { class: "error same-people" },
    other.remedy ? other.sentence + ". If they are the same people, let both share one limit: " + other.remedy : other.sentence));
}

function budgetPart(source) {
  return source.accounts.map(account => {
    const text = account.exact
      ? "Exact answers have left, which spend ε without bound, per " + account.unit + ": no answer with a finite price leaves any more."
      : account.spent === "inf" ? "At δ = " + number(account.delta) + ", the limit's, nothing is proved about what has left, per " + account.unit +
        ": no further answer leaves until the limit has a larger δ."
      : "ε = " + number(account.spent) + (account.limit === null ? " spent or held, and no limit is set"
        : " of " + number(account.limit) + " spent or held" + (account.delta ? ", at δ = " + number(account.delta) : "")) + ", per " + account.unit;
    const charges = source.entries.filter(entry => entry.spent && typeof entry.spent[account.unit] === "number");
    const parts = [element("p", {}, text)];
    if (typeof account.limit === "number" && typeof account.spent === "number")
      parts.push(element("meter", { min: 0, max: account.limit, value: account.spent, "aria-label": text }));
    if (charges.length > 0) { // from the first entry, when nothing was spent, until now
      const spent = [0, ...charges.map(entry => entry.spent[account.unit])];
      const times = [source.entries[0].time_ms, ...charges.map(entry => entry.time_ms), Date.now()];
      parts.push(burnDownChart(times.map(time => time / 1000), [...spent, spent[spent.length - 1]],
        typeof account.limit === "number" ? account.limit : null));
    }
    return parts;
  });
}

// The study that an entry is about, whatever its version: the ledger writes name@authority+version.
function studyOf(entry) { return (entry.study || "").split("+")[0]; }

// Entries by study, the one that something left for last first; the owner's own, such as limits, are of no study.
function entryGroups(source) {
  const groups = new Map();
  for (const entry of source.entries.slice().reverse()) {
    const key = studyOf(entry);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(entry);
  }
  return [...groups].sort((a, b) => (a[0] === "") - (b[0] === ""));
}

function entryPart(source, studies) {
  const columns = [
    { title: "No.", number: true, cell: entry => String(entry.number) },
    { title: "When", cell: entry => when(entry.time_ms) },
    { title: "What", cell: entry => entry.entry + (entry.kind ? " (" + entry.kind + ")" : "") },
    { title: "Question", cell: entry => entry.question || "" },
    { title: "Price", cell: entry => entry.price ? price(entry.price) : "" },
    { title: "Reason", cell: entry => entry.reason || "" },
  ];
  const version = { title: "Version", cell: entry => /\+.*$/.exec(entry.study || "")?.[0] || "first" };
  return entryGroups(source).map(([key, entries]) => {
    const study = studies.find(one => one.id.split("+")[0] === key);
    const name = key === "" ? "Of the owner, for all studies" : study ? study.title : key;
    const about = [key !== "" && study ? key : null, study && study.called ? "as " + study.called : null,
      entries.length === 1 ? "1 entry" : entries.length + " entries"].filter(text => text).join(", ");
    const amended = entries.some(entry => entry.study && entry.study.includes("+"));
    const shown = amended ? [...columns.slice(0, 3), version, ...columns.slice(3)] : columns;
    const called = study ? study.name + ", " + name : name; // two studies may have one title
    return element("section", { class: "group", "aria-label": called }, element("h3", {}, name), element("p", { class: "soft" }, about),
      table(shown, entries, "entries of " + called));
  });
}

// At most twice a second, however fast answers leave.
let due = null;
function soon() {
  if (due === null) due = setTimeout(() => { due = null; page.start().catch(report); }, 500);
}

page.start = async () => {
  const [joined, ledger, store] = await Promise.all(["studies", "ledger", "store"].map(name => request("GET", "/v1/party/" + name)));
  if (!page.token || person.form) return; // logged out meanwhile, or somebody fills in a form
  showParts("party" + (store.exists ? store.open ? ", open" : ", locked" : ""), [
    ...personParts(store, ledger),
    ["studies", joined, () => [element("h2", {}, "Studies"),
      joined.studies.length === 0 ? element("p", {}, "No study has been joined yet: tacit join.") : joined.studies.map(studyPart)]],
    ["ledger", [ledger, joined.studies.map(one => [one.id, one.title, one.called])], () => ledger.sources.map(source => [element("h2", {}, "What has left"),
      element("p", { class: "soft" }, source.source), samePeoplePart(source), budgetPart(source), entryPart(source, joined.studies)])],
  ]);
  if (!page.events) watch(soon);
};

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.start().catch(report));
enter();
