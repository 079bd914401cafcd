/** `GET …/audit`: who changed what, when, from what to what. */
import { AUDIT_CURSOR, auditPage, isAuditCursor } from "../schemas/audit-entry.ts";
import { type PageQuery, pageQuery } from "../schemas/page.ts";
import { answerList, parsePage } from "./list-answer.ts";
import { type ApiAnswer, type ApiServices, defineOrganizationRoute, defineRoute } from "./route.ts";

const list = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/audit",
  operationId: "listAuditEntries",
  summary: "List changes and sign-ins of the organization, newest first.",
  query: pageQuery(AUDIT_CURSOR, isAuditCursor),
  answers: { 200: auditPage },
  handleInOrganization: ({ organization, query }, services) =>
    answerEntries(organization.id, query, services),
});

const listOfNone = defineRoute({
  method: "GET",
  path: "/api/audit",
  operationId: "listOperatorAuditEntries",
  summary: "List sign-ins with the operator's role or with none, newest first.",
  access: "operator",
  query: pageQuery(AUDIT_CURSOR, isAuditCursor),
  answers: { 200: auditPage },
  handle: ({ query }, services) => answerEntries(null, query, services),
});

async function answerEntries(
  organizationId: string | null,
  query: PageQuery,
  { store }: ApiServices,
): Promise<ApiAnswer> {
  return answerList(await store.listAuditEntries(organizationId, parsePage(query)), (entry) => ({
    id: entry.id,
    at: new Date(entry.recordedAtMs).toISOString(),
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    before: entry.before,
    after: entry.after,
    request_id: entry.requestId,
  }));
}

export const auditRoutes = [list, listOfNone];
