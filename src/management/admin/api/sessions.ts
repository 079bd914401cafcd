/** `…/sessions`: dashboard sessions; `/api/whoami` and `/api/session`: the caller. */
import * as z from "zod";
import type { AuditInput } from "../../../shared/stored/audit.ts";
import { PERSON_ROLES, type SessionRecord } from "../../../shared/stored/sessions.ts";
import { AdminError } from "../admin-error.ts";
import { hashOfSession, sessionIdOf } from "../identity/record-sign-in.ts";
import { findKeyHolder, findTokenHolder, type Principal } from "../principal.ts";
import { pageOf, pageQuery, type PageQuery } from "../schemas/page.ts";
import { answerFormatted, parsePage } from "./answers.ts";
import { type Change, recordChange } from "./record-change.ts";
import {
  type ApiAnswer,
  type ApiCall,
  type ApiServices,
  defineOrganizationRoute,
  defineRoute,
} from "./route.ts";
import { timestamp } from "../../../shared/settings/input-schemas.ts";
import { answer, textOrNull } from "../schemas/fields.ts";

const SESSION_ID = /^session_[0-9a-f]{64}$/;

const ROLES = [...PERSON_ROLES, "key"] as const;

const session = answer("Session", {
  id: z.string().meta({ examples: [`session_${"0f".repeat(32)}`] }),
  type: z
    .enum(["operator", "token", "key", "person"])
    .describe(
      "How the user signed in: with the operator's token, an organization's token, an API key, or an identity provider.",
    ),
  name: textOrNull("Name of the token or API key, or of the person at the provider; null: the operator."),
  role: z.enum(ROLES).describe("`key`: can read only the API key's own data."),
  provider: textOrNull("Name of the provider in `dashboard.oidc`; null: a token."),
  issuer: z.string().nullable(),
  subject: z.string().nullable(),
  user_id: textOrNull("User of the person; null: none."),
  created_at: timestamp(),
  last_seen_at: timestamp().describe("Last use, to the minute. The session ends eight hours later."),
  ends_at: timestamp().describe("Latest end."),
});
export const sessionPage = pageOf("SessionPage", session);

const whoami = answer("WhoAmI", {
  type: z
    .enum(["operator", "token", "key", "person"])
    .describe("The operator's token, an organization's token, an API key, or a person who has signed in."),
  name: textOrNull("Name of the token or person; null: the operator's token."),
  role: z.enum(ROLES),
  issuer: textOrNull("Identifies a person, with `subject`; null: a token."),
  subject: z.string().nullable(),
  user_id: textOrNull("User of the person; null: none."),
  organization: z
    .strictObject({ id: z.string(), name: z.string() })
    .nullable()
    .describe("Organization that it can access; null: all, for the operator."),
});

const OPERATOR = "/api/sessions";
const ORGANIZATION = `/api/organizations/{organization}/sessions`;

const list = defineOrganizationRoute({
  method: "GET",
  path: ORGANIZATION,
  operationId: "listSessions",
  summary: "List dashboard sessions of this organization, newest first.",
  query: pageQuery(SESSION_ID),
  answers: { 200: sessionPage },
  handleInOrganization: ({ organization, query }, services) =>
    answerSessions(organization.id, query, services),
});

const end = defineOrganizationRoute({
  method: "DELETE",
  path: `${ORGANIZATION}/{session}`,
  operationId: "endSession",
  summary: "End a session on every host. Its user must sign in again.",
  answers: { 204: null },
  handleInOrganization: (call, services) => endSession(call.organization.id, call, services),
});

const listOperators = defineRoute({
  method: "GET",
  path: OPERATOR,
  operationId: "listOperatorSessions",
  summary: "List dashboard sessions with the operator's role, newest first.",
  access: "operator",
  query: pageQuery(SESSION_ID),
  answers: { 200: sessionPage },
  handle: ({ query }, services) => answerSessions(null, query, services),
});

const endOperators = defineRoute({
  method: "DELETE",
  path: `${OPERATOR}/{session}`,
  operationId: "endOperatorSession",
  summary: "End a session with the operator's role, on every host.",
  access: "operator",
  answers: { 204: null },
  handle: (call, services) => endSession(null, call, services),
});

const endOwn = defineRoute({
  method: "DELETE",
  path: "/api/session",
  operationId: "endOwnSession",
  summary: "End your own sign-in from the command line, on every host.",
  access: "read",
  member: true,
  answers: { 204: null },
  handle: async ({ sessionHash }, { store }) => {
    if (sessionHash === null) {
      const message = "This call used a token, not a sign-in: there is no session to end.";
      throw new AdminError("session_not_found", { message });
    }
    if (!(await store.endSession(sessionHash))) throw new AdminError("session_not_found");
    return { status: 204 };
  },
});

async function answerSessions(
  organizationId: string | null,
  query: PageQuery,
  { store }: ApiServices,
): Promise<ApiAnswer> {
  const { limit, after } = parsePage(query);
  const page = await store.listSessions(organizationId, {
    limit,
    after: after === null ? null : hashOfSession(after),
  });
  const shown = await Promise.all(page.items.map((record) => format(record, store)));
  const items = shown.filter((session) => session !== null);
  return answerFormatted({ items, next: page.next === null ? null : sessionIdOf(page.next) });
}

/** Formats a session; null if the token that it started with was deleted, and the session with it. */
async function format(record: SessionRecord, store: ApiServices["store"]) {
  const holder = await describeHolder(record, store);
  if (holder === null) return null;
  const time = (ms: number): string => new Date(ms).toISOString();
  return {
    id: sessionIdOf(record.hash),
    ...holder,
    created_at: time(record.createdAtMs),
    last_seen_at: time(record.seenAtMs),
    ends_at: time(record.endsAtMs),
  };
}

const NO_PERSON = { provider: null, issuer: null, subject: null, user_id: null };

async function describeHolder({ holder }: SessionRecord, store: ApiServices["store"]) {
  if (holder.type === "operator") return { type: holder.type, name: null, role: "operator", ...NO_PERSON };
  if (holder.type === "token") {
    const token = await findTokenHolder(holder.tokenHash, store);
    return token === null ? null : { type: holder.type, name: token.name, role: token.role, ...NO_PERSON };
  }
  if (holder.type === "key") {
    const key = await findKeyHolder(holder.keyHash, store);
    return key === null ? null : { type: holder.type, name: key.name, role: key.role, ...NO_PERSON };
  }
  const { type, name, role, provider, issuer, subject, userId } = holder;
  return { type, name, role, provider, issuer, subject, user_id: userId };
}

async function endSession(
  organizationId: string | null,
  call: Pick<ApiCall, "params" | "principal" | "requestId">,
  services: ApiServices,
): Promise<ApiAnswer> {
  const { store } = services;
  const hash = hashOfSession(call.params["session"] ?? "");
  const record = hash === null ? null : await store.findSession(hash);
  if (hash === null || record === null) throw new AdminError("session_not_found");
  const { holder } = record;
  const owner = holder.type === "operator" ? null : holder.organizationId;
  if (owner !== organizationId) throw new AdminError("session_not_found");
  if (!(await store.endSession(hash))) throw new AdminError("session_not_found");
  await recordChange(organizationId, describeEnd(record), call, services);
  return { status: 204 };
}

function describeEnd({ hash, holder }: SessionRecord): Change {
  const isPerson = holder.type === "person";
  const target: AuditInput["target"] = {
    type: "session",
    id: sessionIdOf(hash),
    name: isPerson ? holder.name : null,
  };
  const person = isPerson ? { issuer: holder.issuer, subject: holder.subject } : {};
  return { action: "session.revoked", target, before: { type: holder.type, ...person }, after: null };
}

export const sessionRoutes = [endOwn, list, end, listOperators, endOperators];

export const whoamiRoute = defineRoute({
  method: "GET",
  path: "/api/whoami",
  operationId: "whoAmI",
  summary: "Show who you are, and what you can access.",
  member: true,
  answers: { 200: whoami },
  handle: async ({ principal }, { store }) => {
    const organizationId = principal.type === "operator" ? null : principal.organizationId;
    const organization = organizationId === null ? null : await store.getOrganization(organizationId);
    const named = organization === null ? null : { id: organization.id, name: organization.name };
    return { status: 200, body: { ...describeCaller(principal), organization: named } };
  },
});

function describeCaller(principal: Principal) {
  const type = principal.type;
  const role = type === "operator" ? "operator" : principal.role;
  const person = type === "token" || type === "key" ? undefined : principal.person;
  const name = type === "operator" ? (person?.name ?? null) : principal.name;
  const userId = type === "person" ? principal.userId : null;
  const identity = { issuer: person?.issuer ?? null, subject: person?.subject ?? null };
  return { type: person === undefined ? type : "person", name, role, ...identity, user_id: userId };
}
