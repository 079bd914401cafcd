// @ts-nocheck -- runs in browsers, whose types this repository does not load.
// Keeps what was typed into a form until it is saved, so that *Back*, a reload and a link away do not lose it. Drafts stay
// in this tab. A draft of settings that another person has changed since is dropped, and no secret is kept.

const STORED = "drafts";
const SKIPPED = new Set(["hidden", "password", "submit", "button", "url"]);

/** Drafts by the address that the form is sent to: {page, version, isSent, values}. */
const drafts = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
const save = () => sessionStorage.setItem(STORED, JSON.stringify(drafts));

const listFields = (form) => [...form.elements].filter(({ name, type }) => name !== "" && !SKIPPED.has(type));
const versionOf = (form) => form.elements.namedItem("etag")?.value ?? "";
const readValue = (field) => (field.type === "checkbox" ? field.checked : field.value);
const readValues = (form) => listFields(form).map((field) => [field.name, field.value, readValue(field)]);

function writeValues(form, values) {
  for (const [index, field] of listFields(form).entries()) {
    const [name, , value] = values[index] ?? [];
    if (name !== field.name || value === readValue(field)) continue;
    if (field.type === "checkbox") field.checked = value;
    else field.value = value;
    field.closest("details")?.setAttribute("open", "");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function offerDiscard(form, before) {
  const note = document.createElement("p");
  note.className = "notice draft";
  note.setAttribute("role", "note");
  const button = Object.assign(document.createElement("button"), {
    type: "button",
    className: "quiet",
    textContent: "Discard",
  });
  button.addEventListener("click", () => {
    writeValues(form, before);
    delete drafts[form.action];
    save();
    note.remove();
  });
  note.append("Not saved: this is what you typed before. ", button);
  form.prepend(note);
  form.closest("details")?.setAttribute("open", "");
}

function storeForm(form) {
  const draft = drafts[form.action];
  const before = readValues(form);
  if (draft !== undefined && draft.version !== versionOf(form)) delete drafts[form.action];
  else if (draft !== undefined && !document.querySelector("main [role=alert]")) {
    writeValues(form, draft.values);
    if (JSON.stringify(readValues(form)) !== JSON.stringify(before)) offerDiscard(form, before);
  }
  const note = (isSent) => {
    const page = drafts[form.action]?.page ?? location.href;
    drafts[form.action] = { page, version: versionOf(form), isSent, values: readValues(form) };
    save();
  };
  form.addEventListener("input", (event) => event.isTrusted && note(false));
  form.addEventListener("submit", (event) => {
    if (!event.defaultPrevented) note(true);
  });
}

/** A form that was sent is saved, or rejected and shown again; a reload then asks for its page. */
function settle() {
  const isSaved = document.querySelector("main [role=status]:is(.notice, .card)") !== null;
  const isRejected = document.querySelector("main [role=alert]") !== null;
  for (const [action, draft] of Object.entries(drafts)) {
    if (!draft.isSent) continue;
    if (isSaved) delete drafts[action];
    else if (isRejected && location.href === action) history.replaceState(null, "", draft.page);
  }
  save();
}

export function saveDrafts() {
  if (document.querySelector("input[name=token]") !== null) return sessionStorage.removeItem(STORED);
  settle();
  for (const form of document.querySelectorAll("main form[method=post]")) {
    if (listFields(form).length > 0 && form.querySelector("[name=chosen]") === null) storeForm(form);
  }
}
