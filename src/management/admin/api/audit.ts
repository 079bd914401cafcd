/** `GET …/audit`: who changed what and when, with values before and after. */
import * as z from "zod";
import { isInStreams } from "../../../data-path/store/requests/cursor.ts";
import { pageFields, pageOf, pageQuery } from "../schemas/page.ts";
import type { AuditEntry } from "../../../shared/stored/audit.ts";
import { OWNER_KINDS } from "../../../shared/stored/owner-kinds.ts";
import type { Page } from "../../../shared/stored/page.ts";
import { answerList, parsePage } from "./answers.ts";
import { type ApiAnswer, type ApiServices, defineOrganizationRoute, defineRoute } from "./route.ts";
import { actor, record, timestamp } from "../../../shared/settings/input-schemas.ts";
import { answer } from "../schemas/fields.ts";
import { PERSON_ROLES } from "../../../shared/stored/sessions.ts";

/** Form of an entry's id: its id in its stream, and the stream's index among the audit logs. */
const AUDIT_CURSOR = /^[0-9]{1,20}-[0-9]{1,20}-[0-9]$/;

/** Returns whether the first two parts can be an id in a stream. */
const isAuditCursor = (text: string): boolean => isInStreams(text.replace(/-[0-9]$/, ""));

const fields = z.record(z.string(), z.unknown()).nullable();

const auditEntry = answer("AuditEntry", {
  id: z.string(),
  at: timestamp(),
  actor: actor()
    .extend({
      role: z.enum(PERSON_ROLES).nullable().describe("Role that allowed it; null: a sign-in without a role."),
      issuer: z
        .string()
        .optional()
        .describe("Identity of a person who signed in or called with an identity provider."),
      subject: z.string().optional().describe("Subject at the issuer."),
    })
    .describe("Actor: the operator, an organization's token, or a person who has signed in."),
  action: z.string().meta({ examples: ["key.updated"] }),
  target: z
    .strictObject({ type: z.string(), id: z.string(), name: z.string().nullable() })
    .describe("Object that was changed."),
  before: fields.describe("Changed fields before the change; null: nothing."),
  after: fields.describe("The same fields after the change; null: nothing."),
  names: z
    .record(z.string(), z.string())
    .describe("Names of the users and groups in these fields by id, also of deleted ones."),
  request_id: z.string().describe("`x-request-id` of the call that made the change."),
});
export const auditPage = pageOf("AuditPage", auditEntry);

const auditQuery = record({
  ...pageFields(AUDIT_CURSOR, isAuditCursor),
  target_id: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "Only changes of this object. One call looks through 500 entries: a page can have fewer than `limit` and a `next`.",
    ),
});
type AuditQuery = z.output<typeof auditQuery>;

const list = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/audit",
  operationId: "listAuditEntries",
  summary: "List changes and sign-ins of the organization, newest first.",
  query: auditQuery,
  answers: { 200: auditPage },
  handleInOrganization: ({ organization, query }, services) =>
    answerEntries(organization.id, query, services),
});

const listOfNone = defineRoute({
  method: "GET",
  path: "/api/audit",
  operationId: "listOperatorAuditEntries",
  summary: "List sign-ins with the operator's role or without a role, newest first.",
  access: "operator",
  query: pageQuery(AUDIT_CURSOR, isAuditCursor),
  answers: { 200: auditPage },
  handle: ({ query }, services) => answerEntries(null, query, services),
});

async function answerEntries(
  organizationId: string | null,
  query: AuditQuery,
  { store }: Pick<ApiServices, "store">,
): Promise<ApiAnswer> {
  const page = await readEntries(organizationId, query, store);
  const ids = [...new Set(page.items.flatMap(listOwners))];
  const names = organizationId === null ? NO_NAMES : await store.readOwnerNames(organizationId, ids);
  return answerList(page, (entry) => ({
    id: entry.id,
    at: new Date(entry.recordedAtMs).toISOString(),
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    before: entry.before,
    after: entry.after,
    names: Object.fromEntries(
      listOwners(entry).flatMap((id) => {
        const name = names.get(id);
        return name === undefined ? [] : [[id, name]];
      }),
    ),
    request_id: entry.requestId,
  }));
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Lists the ids of users and groups among the changed fields. */
function listOwners({ before, after }: Pick<AuditEntry, "before" | "after">): string[] {
  return [before, after]
    .flatMap((changed) => OWNER_KINDS.map((kind) => changed?.[`${kind}_id`]))
    .filter((id) => typeof id === "string");
}

/** Entries that one call examines for an object. */
const MAX_EXAMINED = 500;

async function readEntries(
  organizationId: string | null,
  { target_id: targetId, ...query }: AuditQuery,
  store: ApiServices["store"],
): Promise<Page<AuditEntry>> {
  const page = parsePage(query);
  if (targetId === undefined) return store.listAuditEntries(organizationId, page);
  const { items, next } = await store.listAuditEntries(organizationId, { ...page, limit: MAX_EXAMINED });
  const found = items.filter(({ target }) => target.id === targetId);
  const shown = found.slice(0, page.limit);
  return { items: shown, next: found.length > shown.length ? (shown.at(-1)?.id ?? null) : next };
}

export const auditRoutes = [list, listOfNone];
