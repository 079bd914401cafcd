// @ts-nocheck -- runs in browsers, whose types this repository does not load.
// Every page works without this file; it copies secrets, asks before what cannot be undone, explains a rate and an
// amount while it is typed, keeps what is typed, follows the list of requests, narrows its chart, and adds the reader's own
// time to every time.
import { describeAmount } from "./describe-amount.js";
import { describeRate } from "./describe-rate.js";
import { saveDrafts } from "./save-drafts.js";
import { narrowCharts } from "./narrow-chart.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const text = source.value ?? source.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without access to the clipboard (plain HTTP off loopback): select the text, so that Ctrl+C copies it.
      source.select?.();
      button.textContent = "Press Ctrl+C";
      return;
    }
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
}

// An open form has the page's main button.
for (const creation of document.querySelectorAll("details.creation")) {
  creation.addEventListener("toggle", () => {
    creation.querySelector("summary").classList.toggle("quiet", creation.open);
  });
}

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.confirmed === "yes") return;
    event.preventDefault();
    confirmByDialog(form.dataset.confirm, event.submitter?.textContent ?? "Yes", () => {
      form.dataset.confirmed = "yes";
      const sure = document.createElement("input");
      Object.assign(sure, { type: "hidden", name: "sure", value: "yes" });
      form.append(sure);
      form.requestSubmit();
    });
  });
}

// A second click would create a second key.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (form.dataset.sent === "yes") event.preventDefault();
    form.dataset.sent = "yes";
  });
}
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form")) delete form.dataset.sent;
});

function confirmByDialog(question, answer, onYes) {
  const dialog = document.createElement("dialog");
  const text = document.createElement("p");
  text.textContent = question;
  text.id = "question";
  dialog.setAttribute("aria-labelledby", "question");
  const buttons = document.createElement("p");
  buttons.className = "actions";
  const [no, yes] = [
    { className: "quiet", textContent: "Cancel" },
    { className: "danger", textContent: answer },
  ].map((button) => Object.assign(document.createElement("button"), { type: "button", ...button }));
  no.addEventListener("click", () => dialog.close());
  yes.addEventListener("click", () => {
    dialog.close();
    onYes();
  });
  dialog.addEventListener("close", () => dialog.remove());
  buttons.append(no, yes);
  dialog.append(text, buttons);
  document.body.append(dialog);
  dialog.showModal();
  no.focus();
}

for (const input of document.querySelectorAll("[data-rate]")) {
  const hint = document.getElementById(`${input.id}-hint`);
  input.addEventListener("input", () => {
    const rate = Number(input.value);
    if (!Number.isInteger(rate) || rate < 1 || hint === null) return;
    hint.textContent = describeRate(rate);
  });
}

for (const output of document.querySelectorAll("[data-amount]")) {
  const input = document.getElementById(output.htmlFor.value);
  const show = () => {
    output.textContent = describeAmount(
      input.value,
      output.dataset.currency,
      output.dataset.amount === "signed",
    );
  };
  input.addEventListener("input", show);
  // Restores a form from the browser's cache.
  window.addEventListener("pageshow", show);
}

// Suggests names of organizations, users and groups while the user types.
for (const input of document.querySelectorAll("[data-suggestions]")) {
  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void suggest(input), 150);
  });
}

async function suggest(input) {
  const search = input.value.trim();
  if (search === "") return;
  const answer = await fetch(`${input.dataset.suggestions}?search=${encodeURIComponent(search)}`).catch(
    () => null,
  );
  // Signed out, or the gateway is unreachable: pressing Enter shows that.
  if (answer === null || !answer.headers.get("content-type")?.includes("json")) return;
  const names = await answer.json();
  if (input.value.trim() !== search) return;
  input.list.replaceChildren(
    ...names.map((name) => Object.assign(document.createElement("option"), { value: name })),
  );
}

/** Refresh interval of a live list. */
const LIVE_MS = 2_000;

// Live list: loads the page again and applies changes.
for (const button of document.querySelectorAll("[data-live]")) {
  const status = document.getElementById("live-status");
  let timer;
  button.hidden = false;
  button.addEventListener("click", () => follow(button.getAttribute("aria-pressed") !== "true"));

  function follow(isLive, why = "") {
    clearTimeout(timer);
    button.setAttribute("aria-pressed", String(isLive));
    button.textContent = isLive ? "Pause" : "Follow live";
    status.textContent = isLive ? "New requests appear by themselves." : why;
    if (isLive) void look();
  }

  async function look() {
    // A hidden page loads nothing, and the focused element stays as it is.
    const list = document.getElementById(button.dataset.live);
    const isBusy = document.hidden || list.contains(document.activeElement);
    const answer = isBusy ? null : await readList(button.dataset.live).catch(() => undefined);
    if (button.getAttribute("aria-pressed") !== "true") return;
    if (answer === undefined) return follow(false, "The list cannot be read at the moment.");
    if (answer !== null && answer.innerHTML !== list.innerHTML) {
      list.replaceChildren(...answer.childNodes);
      addLocalTimes(list);
    }
    timer = setTimeout(() => void look(), LIVE_MS);
  }
}

/** Undefined: signed out, or the gateway is unreachable. */
async function readList(id) {
  const url = new URL(location.href);
  // The list alone: counting all requests again each time would cost more than it shows.
  url.searchParams.set("live", "1");
  const response = await fetch(url, { headers: { accept: "text/html" }, redirect: "error" });
  if (!response.ok) return undefined;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.getElementById(id) ?? undefined;
}

/** Times are UTC; the reader's own time is shown on hover. */
function addLocalTimes(root) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
  for (const time of root.querySelectorAll("time[datetime]")) {
    time.title = format.format(new Date(time.dateTime));
  }
}
addLocalTimes(document);

// A chart is one stop of the Tab key; the arrow keys move between values.
for (const chart of document.querySelectorAll("svg.chart")) {
  const spots = [...chart.querySelectorAll(".spot")];
  for (const spot of spots.slice(1)) spot.setAttribute("tabindex", "-1");
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -spots.length, End: spots.length }[event.key];
    const at = spots.indexOf(document.activeElement);
    if (step === undefined || at === -1) return;
    event.preventDefault();
    const next = spots[Math.max(0, Math.min(spots.length - 1, at + step))];
    spots[at].setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

narrowCharts(document);

// One box in the head of a list chooses all of its rows.
for (const head of document.querySelectorAll("form .list thead th:first-child")) {
  const boxes = [...head.closest("table").querySelectorAll("tbody input[type=checkbox]")];
  if (boxes.length === 0) continue;
  const all = Object.assign(document.createElement("input"), { type: "checkbox" });
  all.setAttribute("aria-label", "Choose all on this page");
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  head.prepend(all);
}

saveDrafts();
