/** `/api/organizations`: create, list, show, change, delete. */
import type { z } from "zod";
import { AdminError, invalidField } from "../admin-error.ts";
import { expectVersion, formatETag } from "../http/etag.ts";
import {
  organization,
  organizationChange,
  organizationCreation,
  organizationPage,
  organizationQuery,
} from "../schemas/organization.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import { defaultsOf } from "../../../shared/settings/table.ts";
import { isOrganizationFound } from "../../../data-path/store/management/organizations.ts";
import type { NameHolder, OrganizationRecord } from "../../../shared/stored/management.ts";
import type { Page } from "../../../shared/stored/page.ts";
import type { Principal } from "../principal.ts";
import { arrange } from "../directory/arrange.ts";
import { readOrganizations } from "../directory/directory.ts";
import { PLACE } from "../schemas/arranged.ts";
import { AFTER_EXPECTATION } from "../schemas/page.ts";
import { answerArranged, answerFormatted, changeCurrent, parsePage } from "./answers.ts";
import {
  formatOrganization,
  type NewWebhookSecrets,
  planOrganizationChange,
  readOrganizationSpend,
  recordOrganization,
} from "./format-organization.ts";
import { entriesOf } from "./record-change.ts";
import { type ApiAnswer, type ApiServices, defineOrganizationRoute, defineRoute } from "./route.ts";

const PATH = "/api/organizations";
const ONE = `${PATH}/{organization}`;
const ENTRIES = entriesOf("organization", recordOrganization);

const create = defineRoute({
  method: "POST",
  path: PATH,
  operationId: "createOrganization",
  summary: "Create an organization.",
  access: "operator",
  body: organizationCreation,
  answers: { 201: organization },
  handle: async (call, services) => {
    const nowMs = await services.store.timeMs();
    const plan = planOrganizationChange(null, call.body, call.principal, services, nowMs);
    const { name, currency } = call.body;
    const settings = { ...defaultsOf(ORGANIZATION_SETTINGS), ...plan.changes, name, currency };
    const result = await services.store.createOrganization(settings, (made) => ENTRIES.created(made, call));
    if (result.outcome === "name_taken") throw refuseName(result.holder, call.principal);
    const { organization: made } = result;
    const answer = await answerOne(made, services, plan.newSecrets);
    return { ...answer, status: 201, headers: { ...answer.headers, location: `${PATH}/${made.id}` } };
  },
});

const list = defineRoute({
  method: "GET",
  path: PATH,
  operationId: "listOrganizations",
  summary: "List organizations, or deleted ones; an organization's token sees only its own.",
  query: organizationQuery,
  answers: { 200: organizationPage },
  handle: async ({ principal, query }, services) => {
    if (principal.type === "operator" && query.sort !== undefined) return answerArrangedList(query, services);
    if (PLACE.test(query.after ?? "")) throw invalidField("after", AFTER_EXPECTATION);
    const { items, next } = await listVisible(principal, query, services.store);
    const formatted = await Promise.all(
      items.map(async (item) => formatOrganization(item, await readOrganizationSpend(services, item))),
    );
    return answerFormatted({ items: formatted, next });
  },
});

type Query = z.output<typeof organizationQuery>;

async function answerArrangedList(query: Query, services: ApiServices): Promise<ApiAnswer> {
  if (query.deleted === "true") throw invalidField("sort", "`sort` can't be combined with `deleted`");
  const page = arrange(await readOrganizations(services), query);
  const items = await Promise.all(
    page.items.map(async ({ record, tightest }) => ({
      ...formatOrganization(record, await readOrganizationSpend(services, record)),
      tightest_limit: tightest,
    })),
  );
  return answerArranged({ ...page, items }, (item) => item);
}

/** Lists organizations; a token of an organization only sees its own. */
async function listVisible(
  principal: Principal,
  query: Query,
  store: ApiServices["store"],
): Promise<Page<OrganizationRecord>> {
  const { search } = query;
  const isOfDeleted = query.deleted === "true";
  if (principal.type === "operator") {
    const page = parsePage(query);
    if (isOfDeleted && search !== undefined) {
      throw invalidField("search", "`search` can't be combined with `deleted`");
    }
    if (isOfDeleted) return store.listDeletedOrganizations(page);
    return search === undefined ? store.listOrganizations(page) : store.searchOrganizations(search, page);
  }
  const isFirstPage = query.after === undefined && !isOfDeleted;
  const own = isFirstPage ? await store.getOrganization(principal.organizationId) : null;
  const isActive = own !== null && own.deletedAtMs === null;
  const isWanted = isActive && (search === undefined || isOrganizationFound(own, search));
  return { items: isWanted ? [own] : [], next: null };
}

const show = defineOrganizationRoute({
  method: "GET",
  path: ONE,
  operationId: "getOrganization",
  summary: "Show an organization with this month's spend.",
  answers: { 200: organization },
  handleInOrganization: (call, services) => answerOne(call.organization, services),
});

const change = defineOrganizationRoute({
  method: "PATCH",
  path: ONE,
  operationId: "changeOrganization",
  summary: "Change the given settings, from the next request.",
  description:
    "Only the operator can change `suspended` and, as long as nothing was spent, `currency`. " +
    "Setting the URL of a webhook in the `standard` format creates a secret, which only this response shows.",
  body: organizationChange,
  usesIfMatch: true,
  answers: { 200: organization },
  handleInOrganization: (call, services) =>
    changeCurrent(call.organization, call.ifMatch, async (current, expectedVersion) => {
      const nowMs = await services.store.timeMs();
      const plan = planOrganizationChange(current, call.body, call.principal, services, nowMs);
      if (Object.keys(plan.changes).length === 0) return answerOne(current, services);
      const entry = ENTRIES.updated(current, { ...current, ...plan.changes }, call);
      const result = await services.store.changeOrganization(
        current.id,
        plan.changes,
        expectedVersion,
        entry,
      );
      if (result.outcome === "version_conflict") return result;
      if (result.outcome === "not_found") throw new AdminError("organization_not_found");
      if (result.outcome === "name_taken") throw refuseName(result.holder, call.principal);
      if (result.outcome === "currency_locked") {
        throw new AdminError("currency_locked", { param: "currency" });
      }
      return answerOne(result.after, services, plan.newSecrets);
    }),
});

const remove = defineOrganizationRoute({
  method: "DELETE",
  path: ONE,
  operationId: "deleteOrganization",
  summary: "Permanently delete an organization.",
  description:
    "Its name is free again. The operator can read its spend by its id while usage is kept " +
    "(`retention.usage_months`), and its requests in flight are still charged. Its audit log keeps the deletion.",
  access: "operator",
  usesIfMatch: true,
  answers: { 204: null },
  handleInOrganization: async (call, { store }) => {
    const { organization: current, ifMatch } = call;
    const entry = ENTRIES.deleted(current, call);
    const result = await store.deleteOrganization(current.id, expectVersion(ifMatch, current.version), entry);
    if (result.outcome === "not_found") throw new AdminError("organization_not_found");
    if (result.outcome === "version_conflict") {
      throw new AdminError("version_conflict", { headers: { etag: formatETag(result.current.version) } });
    }
    return { status: 204 };
  },
});

/** Names the organization with the name to the operator only; tokens must not learn of other organizations. */
function refuseName({ id, name }: NameHolder, principal: Principal): AdminError {
  const param = "name";
  if (principal.type !== "operator") return new AdminError("organization_name_taken", { param });
  const holder = name === null ? `${id} is being renamed to it` : `"${name}" (${id}) has this name`;
  const message = `\`name\`: the organization ${holder}. Case and spaces don't make a name different.`;
  return new AdminError("organization_name_taken", { message, param });
}

async function answerOne(
  record: OrganizationRecord,
  services: ApiServices,
  newSecrets?: NewWebhookSecrets,
): Promise<ApiAnswer> {
  const spend = await readOrganizationSpend(services, record);
  return {
    status: 200,
    body: formatOrganization(record, spend, newSecrets),
    headers: { etag: formatETag(record.version) },
  };
}

export const organizationRoutes = [create, list, show, change, remove];
