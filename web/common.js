// What both pages share: elements, requests, the log-in, live events, and the panel that says who learns what.
"use strict";

// element("p", {class: "soft"}, "text", child...): text is always text, never markup.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) made.append(child);
  return made;
}

function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value === "inf" ? "∞" : value;
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1000 && size < 1e5 && digits >= 4) return Number(value.toFixed(1)).toString(); // a year, and a part of it
  return size < 1e-4 ? value.toExponential(digits - 1) : Number(value.toPrecision(digits)).toString();
}

function price(one) {
  if (!one) return "–";
  return "ε = " + number(one.epsilon) + (one.delta ? ", δ = " + number(one.delta) : "") + " per " + one.unit;
}

// Wider than the page: it scrolls by itself, by keyboard too.
function table(columns, rows, name) {
  const head = element("tr", {}, columns.map(column => element("th", { scope: "col", class: column.number ? "number" : null },
    column.title)));
  const body = rows.map(row => element("tr", {}, columns.map(column => element("td", { class: column.number ? "number" : null },
    column.cell(row)))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name || "table" }, element("table", {}, element("thead", {}, head), element("tbody", {}, body)));
}

const page = { token: null, events: null, start: null };

class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

// The session's token goes in a header of every request, and nowhere else: cookies reach every port of this machine, addresses end up in
// histories. It is kept in sessionStorage, which is this tab's and this origin's alone, so a reload keeps the session.
const KEPT = "tacit.token";

function keepToken(token) {
  page.token = token;
  if (token) sessionStorage.setItem(KEPT, token); else sessionStorage.removeItem(KEPT);
}

async function send(method, path, { body, headers = {}, signal } = {}) {
  if (page.token) headers["Authorization"] = "Bearer " + page.token;
  if (body) headers["Content-Type"] = "application/json";
  const reply = await fetch(path, { method, headers, signal, body: body ? JSON.stringify(body) : undefined,
    credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" });
  if (reply.ok) return reply;
  const problem = await reply.json().catch(() => ({}));
  throw new Refused(reply.status, problem.error || "the program answered " + reply.status);
}

async function request(method, path, body) { return (await send(method, path, { body })).json(); }

// A file that needs the token cannot be a plain link: it is fetched, and handed to the browser to keep.
async function download(path, name) {
  const address = URL.createObjectURL(await (await send("GET", path)).blob());
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

function show(...children) {
  const main = document.getElementById("main");
  main.view = null;
  main.replaceChildren(...children.flat(Infinity).filter(child => child));
}

// Draw the parts of a view, [name, what it shows, how], each again only when what it shows has changed: a button that is about to be
// pressed stays where it is, and what was opened stays open. A view has the same parts every time.
function showParts(view, parts) {
  const main = document.getElementById("main");
  const palette = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const made = (name, shown, make) => {
    const part = element("div", { "data-part": name }, [make()].flat(Infinity).filter(child => child));
    part.shown = shown;
    return part;
  };
  const old = new Map(Array.from(main.children, child => [child.dataset.part, child]));
  const same = main.view === view && parts.every(part => old.has(part[0]));
  const next = parts.map(([name, what, make]) => {
    const shown = palette + JSON.stringify(what), before = old.get(name);
    if (same && before.shown === shown) return before;
    const part = made(name, shown, make);
    if (same) before.replaceWith(part);
    return part;
  });
  if (!same) main.replaceChildren(...next);
  main.view = view;
}

function live(text) { document.getElementById("live").textContent = text; }

// The panel of `tacit explain`.
function whoLearnsWhat(explanation) {
  const noise = explanation.noise;
  const lines = [
    ["Method", explanation.title + " (" + explanation.reference + ")"],
    ["What leaves", explanation.leaves],
    ["How", explanation.how],
    ["Seen by", explanation.seen_by],
    ["Sums", explanation.secure_sums],
    ["Guarantee", explanation.guarantee],
    ["Assuming", explanation.assumption],
    ["Theorem", explanation.theorem],
    ["Charged", explanation.charged.epsilon === "inf" ? "ε = ∞ per " + explanation.charged.unit +
      ": nothing bounds what the results may reveal" : price(explanation.charged)],
    ["Noise added", explanation.noise_added + (noise ? "; " + noise.law + ", scale " + number(noise.scale) + ", added to " + noise.added_to : "")],
    ["Caveats", explanation.caveats],
  ];
  return element("dl", { class: "panel explanation" },
    lines.filter(line => line[1]).map(line => [element("dt", {}, line[0]), element("dd", {}, line[1])]));
}

// ---- log-in ----

async function begin() {
  document.getElementById("logout").hidden = false;
  await page.start();
}

async function tryLogIn(body, message) {
  try {
    keepToken((await request("POST", "/v1/session", body)).token);
    await begin();
  } catch (problem) {
    message.textContent = problem.message;
  }
}

function showLogIn(text) {
  const message = element("p", { class: "error", role: "alert" }, text || "");
  const field = element("input", { id: "credential", type: "password", autocomplete: "current-password", required: "" });
  const form = element("form", { onsubmit: event => { event.preventDefault(); tryLogIn({ credential: field.value }, message); } },
    element("label", { for: "credential" }, "Credential"), field, " ", element("button", {}, "Log in"));
  document.getElementById("logout").hidden = true;
  live("");
  show(element("h2", {}, "Log in"),
    element("p", {}, "Open the link that the program printed when it started, or enter the credential that it printed at its first start."),
    form, message);
  field.focus();
}

function leave(text) {
  if (page.events) page.events.abort();
  page.events = null;
  keepToken(null);
  showLogIn(text);
}

// Failures of a view: a session that has ended leads to the log-in.
function report(problem) {
  if (problem.status === 401) leave("The session has ended.");
  else show(element("p", { class: "error", role: "alert" }, problem.message));
}

function pause(milliseconds) { return new Promise(done => setTimeout(done, milliseconds)); }

// The fields of a stream's one event, {id, event, data, retry}; none when there is no news.
function eventFields(text) {
  return Object.fromEntries(text.split("\n").map(line => /^(\w+): (.*)$/.exec(line)).filter(match => match).map(match => match.slice(1)));
}

// Calls `changed` with the state at first and whenever it differs, until the listening is aborted. EventSource can send no header, so the
// streams are fetched; each brings one event and ends, and the next is asked for with the number of the last.
async function listen(changed, signal) {
  let last = "0";
  while (!signal.aborted) {
    try {
      const reply = await send("GET", "/v1/events", { headers: { "Last-Event-ID": last }, signal });
      const event = eventFields(await reply.text());
      if (signal.aborted) return;
      live("live");
      if (event.data) {
        last = event.id;
        changed(JSON.parse(event.data));
      }
      await pause(Number(event.retry) || 200);
    } catch (problem) {
      if (signal.aborted) return;
      if (problem.status === 401) return leave("The session has ended.");
      last = "0"; // perhaps it starts again, and counts again
      live("not connected");
      await pause(2000);
    }
  }
}

function watch(changed) {
  if (page.events) page.events.abort();
  page.events = new AbortController();
  listen(changed, page.events.signal);
}

async function enter() {
  const link = /^#link=([0-9a-f]{64})$/.exec(location.hash);
  if (link) history.replaceState(null, "", "/"); // out of the address line and the history
  document.getElementById("logout").addEventListener("click", async () => {
    await request("DELETE", "/v1/session").catch(() => null);
    leave();
  });
  try {
    page.token = sessionStorage.getItem(KEPT);
    if (link) keepToken((await request("POST", "/v1/session", { link: link[1] })).token);
    if (!page.token) return showLogIn("");
    await begin();
  } catch (problem) {
    if (problem.status === 401) keepToken(null);
    showLogIn(problem.status === 401 && !link ? "" : problem.message);
  }
}
