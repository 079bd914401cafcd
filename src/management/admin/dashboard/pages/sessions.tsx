/** *Sessions*: sessions of an organization's users, or with the operator's role. */
import { type PageAnswer, type PageCall, type PageRoute, showPage } from "../page.ts";
import { showConfirmation, isSure, Layout } from "../parts/layout.tsx";
import { endColumn, List, pageQueryOf, type RowTableColumns } from "../parts/table.tsx";
import { Time } from "../parts/inline.tsx";
import type { SessionPageView } from "../views.ts";

type SessionView = SessionPageView["data"][number];

/** Scope of a sessions page. */
interface Place {
  readonly title: string;
  readonly intro: string;
  /** API call of the list. */
  readonly list: "/api/sessions" | "/api/organizations/{organization}/sessions";
  /** Path of the page. */
  readonly path: string;
}

const OPERATORS: Place = {
  title: "Operator's sessions",
  intro: "People who signed in with the operator's role, by the operator's token or an identity provider.",
  list: "/api/sessions",
  path: "/sessions",
};

function placeOf({ organization }: PageCall): Place {
  if (organization === null) return OPERATORS;
  return {
    title: "Sessions",
    intro:
      "People who signed in for this organization. A session ends after 8 hours without activity, and after 24 hours at most.",
    list: "/api/organizations/{organization}/sessions",
    path: `/organizations/${organization.id}/sessions`,
  };
}

async function showSessions(page: PageCall): Promise<PageAnswer> {
  const place = placeOf(page);
  const { body } = await page.api(`GET ${place.list}`, { query: pageQueryOf(page) });
  return showPage(
    <Layout page={page} title={place.title} section="sessions">
      <p>{place.intro}</p>
      <List
        page={page}
        label={place.title}
        list={body}
        columns={columnsOf(page, place)}
        empty="No sessions."
      />
    </Layout>,
  );
}

function columnsOf(page: PageCall, place: Place): RowTableColumns<SessionView> {
  const nameOf = (session: SessionView): string => session.name ?? "operator";
  return [
    {
      label: "who",
      cell: (session) => (
        <>
          <bdi>{nameOf(session)}</bdi>
          <span class="below">{describeOrigin(session)}</span>
        </>
      ),
    },
    { label: "role", cell: ({ role }) => role },
    { label: "since", cell: (session) => <Time at={session.created_at} /> },
    { label: "last seen", cell: (session) => <Time at={session.last_seen_at} /> },
    ...endColumn(page, (session: SessionView) => ({
      action: `${place.path}/${session.id}/end`,
      confirm: `End this session of "${nameOf(session)}"? Its user must sign in again.`,
      button: "End",
      label: `End a session of ${nameOf(session)}`,
    })),
  ];
}

function describeOrigin({ type, provider, subject }: SessionView): string {
  if (type === "person") return `${provider ?? ""}: ${subject ?? ""}`;
  return type === "token" ? "with a token of the organization" : "with the operator's token";
}

async function endSession(page: PageCall): Promise<PageAnswer> {
  const place = placeOf(page);
  if (page.canChange && !isSure(page)) {
    const text = "End this session? Its user must sign in again.";
    return showConfirmation(page, {
      title: "End a session",
      section: "sessions",
      text,
      answer: "End",
      back: place.path,
    });
  }
  await page.api(`DELETE ${place.list}/{session}`);
  return { redirect: `${place.path}?done=session_ended` };
}

const IN_ORGANIZATION = "/organizations/:organization/sessions";

export const sessionPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: IN_ORGANIZATION, runInOrganization: showSessions },
  { method: "POST", path: `${IN_ORGANIZATION}/:session/end`, runInOrganization: endSession },
  { method: "GET", path: OPERATORS.path, access: "operator", run: showSessions },
  { method: "POST", path: `${OPERATORS.path}/:session/end`, access: "operator", run: endSession },
];
