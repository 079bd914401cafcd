// @ts-nocheck -- runs in browsers, whose types this repository does not load.
// Every page works without this file; it copies secrets, asks before what cannot be undone, and explains a rate while
// it is typed.
import { describeRate } from "./describe-rate.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const text = source.value ?? source.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without the right to the clipboard (plain HTTP off loopback): selected, so that Ctrl+C copies it.
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

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.confirmed === "yes") return;
    event.preventDefault();
    ask(form.dataset.confirm, event.submitter?.textContent ?? "Yes", () => {
      form.dataset.confirmed = "yes";
      const sure = document.createElement("input");
      Object.assign(sure, { type: "hidden", name: "sure", value: "yes" });
      form.append(sure);
      form.requestSubmit();
    });
  });
}

// A second click would make a second key.
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

function ask(question, answer, onYes) {
  const dialog = document.createElement("dialog");
  const text = document.createElement("p");
  text.textContent = question;
  text.id = "question";
  dialog.setAttribute("aria-labelledby", "question");
  const buttons = document.createElement("p");
  buttons.className = "actions";
  const no = document.createElement("button");
  no.type = "button";
  no.className = "quiet";
  no.textContent = "Cancel";
  const yes = document.createElement("button");
  yes.type = "button";
  yes.className = "danger";
  yes.textContent = answer;
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
    const rate = Number(input.value.replaceAll(",", ""));
    if (!Number.isInteger(rate) || rate < 1 || hint === null) return;
    hint.textContent = describeRate(rate);
  });
}

// Names of organizations while one is typed.
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
  // Signed out, or the gateway is away: Enter says so.
  if (answer === null || !answer.headers.get("content-type")?.includes("json")) return;
  const names = await answer.json();
  if (input.value.trim() !== search) return;
  input.list.replaceChildren(
    ...names.map((name) => Object.assign(document.createElement("option"), { value: name })),
  );
}
