/** @jsxImportSource hono/jsx */
/** *Sessions*: who is signed in here, of an organization or with the operator's role. */
import { type PageAnswer, type PageCall, type PageRoute, showPage } from "../page.ts";
import { askFirst, isSure } from "../parts/confirmation.tsx";
import { Form } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import { Cell, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import type { SessionPageView } from "../views.ts";

const COLUMNS = ["who", "role", "since", "last seen"];

type SessionView = SessionPageView["data"][number];

/** Whose sessions a page is about. */
interface Place {
  readonly title: string;
  readonly intro: string;
  /** Of the API. */
  readonly list: "/api/sessions" | "/api/organizations/{organization}/sessions";
  /** The page itself. */
  readonly path: string;
}

const OPERATORS: Place = {
  title: "Operator's sessions",
  intro:
    "Who is signed in here with the operator's role, by the operator's token or by an identity provider.",
  list: "/api/sessions",
  path: "/sessions",
};

function placeOf({ organization }: PageCall): Place {
  if (organization === null) return OPERATORS;
  return {
    title: "Sessions",
    intro:
      "Who is signed in here for this organization. A session ends after 8 hours without a page, and after 24 at most.",
    list: "/api/organizations/{organization}/sessions",
    path: `/organizations/${organization.id}/sessions`,
  };
}

async function showSessions(page: PageCall): Promise<PageAnswer> {
  const place = placeOf(page);
  const { body } = await page.api(`GET ${place.list}`, { query: pageQueryOf(page) });
  const { data, next } = body;
  return showPage(
    <Layout page={page} title={place.title} section="sessions">
      <p>{place.intro}</p>
      {data.length === 0 ? (
        <p class="card empty">Nobody is signed in.</p>
      ) : (
        <Table label={place.title} class="stack" columns={page.canChange ? [...COLUMNS, "end"] : COLUMNS}>
          {data.map((session) => (
            <Row page={page} place={place} session={session} />
          ))}
        </Table>
      )}
      <Older page={page} next={next} />
    </Layout>,
  );
}

interface RowProps {
  readonly page: PageCall;
  readonly place: Place;
  readonly session: SessionView;
}

function Row({ page, place, session }: RowProps) {
  const name = session.name ?? "operator";
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
        <span class="below">{describeOrigin(session)}</span>
      </th>
      <Cell label="role">{session.role}</Cell>
      <Cell label="since">
        <Time at={session.created_at} />
      </Cell>
      <Cell label="last seen">
        <Time at={session.last_seen_at} />
      </Cell>
      {page.canChange ? (
        <Cell label="end">
          <Form
            page={page}
            action={`${place.path}/${session.id}/end`}
            confirm={`End this session of "${name}"? Whoever has it must sign in again.`}
          >
            <button type="submit" class="danger" aria-label={`End a session of ${name}`}>
              End
            </button>
          </Form>
        </Cell>
      ) : null}
    </tr>
  );
}

function describeOrigin({ type, provider, subject }: SessionView): string {
  if (type === "person") return `${provider ?? ""}: ${subject ?? ""}`;
  return type === "token" ? "with a token of the organization" : "with the operator's token";
}

async function endSession(page: PageCall): Promise<PageAnswer> {
  const place = placeOf(page);
  if (page.canChange && !isSure(page)) {
    const text = "End this session? Whoever has it must sign in again.";
    return askFirst(page, {
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
