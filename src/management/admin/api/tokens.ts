/** `…/tokens`: tokens for managing one organization. */
import * as z from "zod";
import type { AuditFields } from "../../../shared/stored/audit.ts";
import { TOKEN_ROLES, type TokenRecord } from "../../../shared/stored/tokens.ts";
import { AdminError } from "../admin-error.ts";
import { pageOf, pageQuery } from "../schemas/page.ts";
import { createOrganizationToken, displayToken, hashToken } from "../principal.ts";
import { answerList, parsePage } from "./answers.ts";
import { entriesOf } from "./record-change.ts";
import { defineOrganizationRoute } from "./route.ts";
import { name, NAME_VALUES, timestamp } from "../../../shared/settings/input-schemas.ts";
import { answer, choice, input } from "../schemas/fields.ts";

const role = () =>
  choice(TOKEN_ROLES).describe(
    "`admin` reads and changes everything of its organization, `viewer` only reads.",
  );

const tokenCreation = input("TokenCreation", {
  name: name().describe(`${NAME_VALUES}.`),
  role: role(),
});

const tokenFields = {
  id: z.string().meta({ examples: ["token_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  name: z.string(),
  role: role(),
  display: z.string().meta({ examples: ["igw_org_…a1B2"] }),
  created_at: timestamp(),
};

const token = answer("Token", tokenFields);
export const tokenWithSecret = answer("TokenWithSecret", {
  ...tokenFields,
  token: z.string().describe("The token itself. It is never shown again."),
});
export const tokenPage = pageOf("TokenPage", token);

const PATH = "/api/organizations/{organization}/tokens";
const TOKEN_ID = /^token_[0-9a-f-]{36}$/;

const create = defineOrganizationRoute({
  method: "POST",
  path: PATH,
  operationId: "createToken",
  summary: "Create a management token for this organization. `token` in the response is shown only once.",
  body: tokenCreation,
  answers: { 201: tokenWithSecret },
  handleInOrganization: async (call, services) => {
    const secret = createOrganizationToken();
    const hashed = { hash: hashToken(secret), display: displayToken(secret) };
    const record = await services.store.createToken(call.organization.id, call.body, hashed, (made) =>
      ENTRIES.created(made, call),
    );
    if (record === null) throw new AdminError("organization_not_found");
    return { status: 201, body: { ...formatToken(record), token: secret } };
  },
});

const list = defineOrganizationRoute({
  method: "GET",
  path: PATH,
  operationId: "listTokens",
  summary: "List the organization's management tokens, in the order of their creation.",
  query: pageQuery(TOKEN_ID),
  answers: { 200: tokenPage },
  handleInOrganization: async ({ organization, query }, { store }) =>
    answerList(await store.listTokens(organization.id, parsePage(query)), formatToken),
});

const remove = defineOrganizationRoute({
  method: "DELETE",
  path: `${PATH}/{token}`,
  operationId: "deleteToken",
  summary: "Permanently delete a management token: calls with it return 401 at once.",
  answers: { 204: null },
  handleInOrganization: async (call, services) => {
    const tokenId = call.params["token"] ?? "";
    const record = await services.store.deleteToken(call.organization.id, tokenId, (ended) =>
      ENTRIES.deleted(ended, call),
    );
    if (record === null) throw new AdminError("token_not_found");
    return { status: 204 };
  },
});

function formatToken(record: TokenRecord) {
  return {
    id: record.id,
    name: record.name,
    role: record.role,
    display: record.display,
    created_at: new Date(record.createdAtMs).toISOString(),
  };
}

function describeToken({ name, role, display }: TokenRecord): AuditFields {
  return { name, role, display };
}

const ENTRIES = entriesOf("token", describeToken);

export const tokenRoutes = [create, list, remove];
