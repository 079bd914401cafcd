import type { Child } from "hono/jsx";
import type { Principal } from "../../principal.ts";
import { type PageAnswer, type PageCall, showPage } from "../page.ts";
import { OPERATOR_SECTIONS, SECTIONS } from "../sections.ts";
import { Time } from "./inline.tsx";
import { Form } from "./fields.tsx";

interface LayoutProps {
  readonly page: PageCall | null;
  readonly title: string;
  /** Title in the page, if it contains more than text. */
  readonly heading?: Child;
  /** The page's main button, or the form behind it. */
  readonly action?: Child;
  /** Entry of the navigation, "keys". */
  readonly section?: string;
  /** Address to which the browser is forwarded. */
  readonly forwardTo?: string;
  readonly children?: Child;
}

/** Complete page. `page` is null if nobody is signed in. */
export function Layout({ page, title, heading = title, action, section, forwardTo, children }: LayoutProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {forwardTo === undefined ? null : <meta http-equiv="refresh" content={`0;url=${forwardTo}`} />}
        <title>{`${title} · Inference gateway`}</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/dashboard.css" />
        <script type="module" src="/assets/dashboard.js"></script>
      </head>
      <body class={page === null ? "plain" : "app"}>
        <a class="skip" href="#main">
          Skip to the page
        </a>
        {page === null ? null : <Header page={page} section={section} />}
        {page?.organization || page?.isOperator ? <Navigation page={page} section={section} /> : null}
        <main id="main" tabindex={-1}>
          {action === undefined || action === null ? (
            <h1>{heading}</h1>
          ) : (
            <div class="head">
              <h1>{heading}</h1>
              {action}
            </div>
          )}
          {page === null ? null : <Notice page={page} />}
          {children}
          {page === null ? null : <Contact page={page} />}
        </main>
      </body>
    </html>
  );
}

/** Contact for settings that only the operator can change. */
function Contact({ page }: { page: PageCall }) {
  const contact = page.options.contact ?? null;
  if (contact === null || page.isOperator) return null;
  const address = contact.startsWith("https:") ? contact : `mailto:${contact}`;
  return (
    <p class="quiet">
      Settings that you can't change here: ask <a href={address}>{contact}</a>
    </p>
  );
}

function Header({ page, section }: { page: PageCall; section: string | undefined }) {
  const { principal, organization, isOperator } = page;
  return (
    <header class="top">
      <a class="brand" href="/">
        Inference gateway
      </a>
      {organization ? <bdi class="organization">{organization.name}</bdi> : null}
      {organization && isOperator ? <OtherOrganization section={section} /> : null}
      <form method="post" action="/sign-out" class="who">
        <input type="hidden" name="form_token" value={page.formToken} />
        <bdi>{nameOf(principal)}</bdi>
        <button type="submit" class="quiet">
          Sign out
        </button>
      </form>
    </header>
  );
}

function nameOf(principal: Principal): string {
  if (principal.type === "key") return `API key "${principal.name}"`;
  if (principal.type !== "operator") return `${principal.name} (${principal.role})`;
  return principal.person === undefined ? "operator" : `${principal.person.name} (operator)`;
}

/** Operator's link to the same page of another organization. */
function OtherOrganization({ section }: { section: string | undefined }) {
  return (
    <form method="get" action="/organizations" class="other" role="search" aria-label="Organizations">
      <input type="hidden" name="to" value={section ?? "overview"} />
      <input
        name="search"
        type="search"
        aria-label="Go to another organization"
        placeholder="Another organization"
        list="organizations"
        autocomplete="off"
        data-suggestions="/organizations/suggestions"
      />
      <datalist id="organizations"></datalist>
      <button type="submit" class="quiet">
        Go
      </button>
      <a href="/organizations">All organizations</a>
    </form>
  );
}

/** @param what Word after the number; hidden next to the link *Alerts*. */
function Unread({ count, noun }: { count: number; noun?: string }) {
  return (
    <span class="badge">
      {count} {noun ?? <span class="hidden">new</span>}
    </span>
  );
}

/** Navigation: next to the page, or on a phone behind a button. */
function Navigation({ page, section }: { page: PageCall; section: string | undefined }) {
  const base = page.organization === null ? null : `/organizations/${page.organization.id}`;
  const entries = [
    ...(base === null ? [] : SECTIONS.map((entry) => ({ ...entry, path: base + entry.path }))),
    ...(page.isOperator ? OPERATOR_SECTIONS : []),
  ].filter((entry) => entry.section !== "system" || page.options.examine !== undefined);
  const label = entries.find((entry) => entry.section === section)?.label ?? "Pages";
  const links = (
    <nav aria-label="Pages">
      {[...new Set(entries.map(({ group }) => group))].map((group) => (
        <>
          <p>{group}</p>
          <ul>
            {entries
              .filter((entry) => entry.group === group)
              .map((entry) => (
                <li>
                  <a href={entry.path} aria-current={entry.section === section ? "page" : undefined}>
                    {entry.label}
                    {entry.section === "alerts" && page.unreadAlerts > 0 ? (
                      <Unread count={page.unreadAlerts} />
                    ) : null}
                  </a>
                </li>
              ))}
          </ul>
        </>
      ))}
    </nav>
  );
  return (
    <>
      <div class="menu for-screen">{links}</div>
      <details class="menu for-phone">
        <summary>
          {label}
          {page.unreadAlerts > 0 ? (
            <Unread count={page.unreadAlerts} noun={page.unreadAlerts === 1 ? "alert" : "alerts"} />
          ) : null}
        </summary>
        {links}
      </details>
    </>
  );
}

/** Notices after the redirect of a successful form. */
const NOTICES: Readonly<Record<string, string>> = {
  saved: "Saved. Applies from the next request.",
  deleted: "Deleted. Requests with it return 401.",
  disabled: "Disabled. Requests with it return 403 until you enable it.",
  enabled: "Enabled. It works from the next request.",
  own_disabled: "Disabled. Only an admin can enable it.",
  revoked: "All API keys are deleted.",
  organization_deleted: "Deleted. Requests with its API keys return 401.",
  made: "Created.",
  none_chosen: "Nothing is chosen. Tick the rows to change first.",
  chosen_changed: "Changed. Applies from the next request.",
  user_disabled: "Disabled. Requests with its API keys return 403 until you enable it.",
  user_enabled: "Enabled. Its API keys work from the next request.",
  owner_deleted: "Deleted.",
  token_deleted: "Deleted. Calls with the token return 401.",
  session_ended: "Ended. Its user must sign in again.",
  sent: "Sending the alert again.",
  tested: "Test event sent to the webhook.",
  corrected: "Spend corrected.",
  raised: "Increased. Applies from the next request.",
  raise_deleted: "Removed. The previous cap applies from the next request.",
  read: "All alerts are marked as read.",
};

function Notice({ page }: { page: PageCall }) {
  const text = NOTICES[page.query.get("done") ?? ""];
  const deletedAt = page.organization?.deleted_at ?? null;
  const isViewer = page.organization !== null && !page.canChange && deletedAt === null;
  return (
    <>
      {text === undefined ? null : (
        <p class="notice good" role="status">
          {text}
        </p>
      )}
      {deletedAt === null ? null : (
        <p class="notice">
          This organization was deleted at <Time at={deletedAt} />. You can read its spend, but can't change
          it.
        </p>
      )}
      {isViewer ? (
        <p class="notice">
          {page.principal.type === "person"
            ? "Your role is viewer: you can see everything, but change nothing."
            : "Your token has the role viewer: you can see everything, but change nothing. To make changes, sign in with a token that has the role admin."}
        </p>
      ) : null}
    </>
  );
}

export interface SectionProps {
  /** Id of the heading, for links. */
  readonly id: string;
  readonly title: Child;
  readonly class?: string;
  readonly children?: Child;
}

/** Part of a page with a heading. */
export function Section({ id, title, class: className, children }: SectionProps) {
  return (
    <section class={className} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

interface CreationFormProps {
  readonly page: PageCall;
  /** "a user"; the button says "the user". */
  readonly noun: string;
  readonly button?: string;
  readonly action: string;
  /** There is something to correct, or nothing else on the page. */
  readonly isOpen: boolean;
  /** Content before the form. */
  readonly problems?: Child;
  /** Fields. */
  readonly children?: Child;
}

/** A list's form for another item, behind its button. */
export function CreationForm({ page, noun, button, action, isOpen, problems, children }: CreationFormProps) {
  return (
    <details class="creation" open={isOpen}>
      <summary class={isOpen ? "button quiet" : "button"}>{`Create ${noun}`}</summary>
      <div class="card">
        {problems}
        <Form page={page} action={action}>
          {children}
          <button type="submit" class="primary">
            {button ?? `Create ${noun.replace(/^an? /, "the ")}`}
          </button>
        </Form>
      </div>
    </details>
  );
}

interface Question {
  readonly title: string;
  readonly section: string;
  readonly text: string;
  /** Text on the button. */
  readonly answer: string;
  /** Target of *Cancel*. */
  readonly back: string;
  /** Checked boxes of the form, which stay checked. */
  readonly checked?: readonly string[];
}

/** Returns whether the question was confirmed: by the script's dialog, or by the page below. */
export function isSure(page: PageCall): boolean {
  return page.form.text("sure") === "yes";
}

/** Asks for confirmation of an irreversible action if no script did. */
export function showConfirmation(
  page: PageCall,
  { title, section, text, answer, back, checked = [] }: Question,
): PageAnswer {
  return showPage(
    <Layout page={page} title={title} section={section}>
      <div class="card">
        <p>{text}</p>
        <Form page={page} action={page.path} class="actions">
          <input type="hidden" name="sure" value="yes" />
          {checked.map((name) => (
            <input type="hidden" name={name} value="yes" />
          ))}
          <button type="submit" class="danger">
            {answer}
          </button>
          <a href={back}>Cancel</a>
        </Form>
      </div>
    </Layout>,
  );
}
