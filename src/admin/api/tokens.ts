/** `…/tokens`: what programs and people manage one organization with. */
import type { TokenRecord } from "../../store/types/tokens.ts";
import { AdminError } from "../admin-error.ts";
import { pageQuery } from "../schemas/page.ts";
import { tokenCreation, tokenPage, tokenWithSecret } from "../schemas/token.ts";
import { createOrganizationToken, displayToken, hashToken } from "../token-format.ts";
import { answerList, parsePage } from "./list-answer.ts";
import { recordChange } from "./record-change.ts";
import { defineOrganizationRoute } from "./route.ts";
import type { ApiServices, OrganizationCall } from "./route.ts";

const PATH = "/api/organizations/{organization}/tokens";
const TAG = "Tokens";
const TOKEN_ID = /^token_[0-9a-f-]{36}$/;

const create = defineOrganizationRoute(
  {
    method: "POST",
    path: PATH,
    operationId: "createToken",
    tag: TAG,
    summary: "Makes a token for this organization alone. `token` in the answer is shown this once.",
    access: "write",
    query: null,
    body: tokenCreation,
    answers: { 201: tokenWithSecret },
  },
  async (call, services) => {
    const secret = createOrganizationToken();
    const record = await services.store.createToken(call.organization.id, call.body, {
      hash: hashToken(secret),
      display: displayToken(secret),
    });
    if (record === null) throw new AdminError("organization_not_found");
    await recordTokenChange(call, services, "token.created", null, record);
    return { status: 201, body: { ...formatToken(record), token: secret } };
  },
);

const list = defineOrganizationRoute(
  {
    method: "GET",
    path: PATH,
    operationId: "listTokens",
    tag: TAG,
    summary: "The organization's tokens, in the order of their creation.",
    access: "read",
    query: pageQuery(TOKEN_ID),
    body: null,
    answers: { 200: tokenPage },
  },
  async ({ organization, query }, { store }) =>
    answerList(await store.listTokens(organization.id, parsePage(query)), formatToken),
);

const remove = defineOrganizationRoute(
  {
    method: "DELETE",
    path: `${PATH}/{token}`,
    operationId: "deleteToken",
    tag: TAG,
    summary: "Deletes a token: it works no longer from the next call on.",
    access: "write",
    query: null,
    body: null,
    answers: { 204: null },
  },
  async (call, services) => {
    const record = await services.store.deleteToken(call.organization.id, call.params["token"] ?? "");
    if (record === null) throw new AdminError("token_not_found");
    await recordTokenChange(call, services, "token.deleted", record, null);
    return { status: 204 };
  },
);

function formatToken(record: TokenRecord) {
  return {
    id: record.id,
    name: record.name,
    role: record.role,
    display: record.display,
    created_at: new Date(record.createdAtMs).toISOString(),
  };
}

function recordTokenChange(
  call: OrganizationCall,
  services: ApiServices,
  action: string,
  before: TokenRecord | null,
  after: TokenRecord | null,
): Promise<void> {
  const record = after ?? before;
  const describe = (token: TokenRecord | null) =>
    token === null ? null : { name: token.name, role: token.role, display: token.display };
  const target = { type: "token", id: record?.id ?? "", name: record?.name ?? null };
  const { id } = call.organization;
  const change = { organizationId: id, action, target, before: describe(before), after: describe(after) };
  return recordChange(change, call, services);
}

export const tokenRoutes = [create, list, remove];
