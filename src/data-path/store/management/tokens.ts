/**
 * Organization tokens. Only the SHA-256 of a token is stored. As with API keys, the record (on the
 * organization's slot) decides and the look-up only leads to it. The record is written before its look-up and
 * removed before it, so a crash in between leaves a token that was never given out, or a look-up without a
 * record.
 */
import { auditArguments } from "./audit.ts";
import { timeMs } from "../redis/clock.ts";
import type { StoreContext } from "../context.ts";
import { createId, isId } from "../ids.ts";
import { organizationKey, tokenListKey, tokenLookUpKey, tokenRecordKey } from "../redis/keys.ts";
import { readIds } from "./organizations.ts";
import { parseInteger } from "../redis/parse-reply.ts";
import { FULL_REPLY } from "./api-keys.ts";
import { FullError, MAX_RECORDS } from "../../../shared/stored/max-records.ts";
import { TOKEN_ROLES, type TokenRecord, type TokenStore } from "../../../shared/stored/tokens.ts";
import { type Operations, storeOf } from "../run.ts";
import { type Fields, readFields } from "./records.ts";

export const tokenOperations: Operations<TokenStore> = {
  async createToken(context, organizationId, settings, token, audit) {
    if (!isId("org", organizationId)) return null;
    const createdAtMs = await timeMs(context);
    const id = createId("token", createdAtMs);
    const record = { ...settings, id, organizationId, display: token.display, createdAtMs };
    // Same transition as for a key: the organization exists, the record does not, list and record are
    // written.
    const created = await context.client.igwCreateKey({
      organization: organizationKey(organizationId),
      keyRecord: tokenRecordKey(organizationId, id),
      keyList: tokenListKey(organizationId),
      ...auditArguments(organizationId, audit?.(record)),
      furtherKeys: [],
      keyId: id,
      // No record of an owner names it.
      namedBy: "",
      replaced: "",
      most: String(MAX_RECORDS.token),
      furtherArguments: Object.entries({
        name: settings.name,
        role: settings.role,
        hash: token.hash,
        display: token.display,
        created_at: String(createdAtMs),
      }).flat(),
    });
    if (created === FULL_REPLY) throw new FullError("token");
    if (created !== 1) return null;
    await context.client.set(tokenLookUpKey(token.hash), `${organizationId} ${id}`);
    return record;
  },

  async findToken(context, sha256Hex) {
    const [organizationId = "", id = ""] =
      (await context.client.get(tokenLookUpKey(sha256Hex)))?.split(" ") ?? [];
    const fields = await readToken(context, organizationId, id);
    if (fields === null || fields["hash"] !== sha256Hex) return null;
    return parseTokenRecord(organizationId, id, fields);
  },

  async listTokens(context, organizationId, page) {
    if (!isId("org", organizationId)) return { items: [], next: null };
    const { ids, next } = await readIds(context, tokenListKey(organizationId), page);
    const records = await Promise.all(
      ids.map(async (id) => {
        const fields = await readToken(context, organizationId, id);
        return fields === null ? null : parseTokenRecord(organizationId, id, fields);
      }),
    );
    return { items: records.filter((record) => record !== null), next };
  },

  async deleteToken(context, organizationId, tokenId, audit) {
    const fields = await readToken(context, organizationId, tokenId);
    if (fields === null) return null;
    const record = parseTokenRecord(organizationId, tokenId, fields);
    const deleted = await context.client.igwDeleteToken({
      tokenRecord: tokenRecordKey(organizationId, tokenId),
      tokenList: tokenListKey(organizationId),
      ...auditArguments(organizationId, audit?.(record)),
      tokenId,
    });
    await context.client.del(tokenLookUpKey(fields["hash"] ?? ""));
    // Another caller deleted it between the two commands.
    return deleted === 1 ? record : null;
  },
};

export const createTokenStore = storeOf<TokenStore>(tokenOperations);

async function readToken(
  context: StoreContext,
  organizationId: string,
  tokenId: string,
): Promise<Fields | null> {
  if (!isId("org", organizationId) || !isId("token", tokenId)) return null;
  return readFields(context, tokenRecordKey(organizationId, tokenId));
}

function parseTokenRecord(organizationId: string, id: string, fields: Fields): TokenRecord {
  const role = TOKEN_ROLES.find((known) => known === fields["role"]);
  if (role === undefined) throw new TypeError(`token ${id} in Redis has no role that is known`);
  return {
    id,
    organizationId,
    role,
    name: fields["name"] ?? "",
    display: fields["display"] ?? "",
    createdAtMs: parseInteger(fields["created_at"] ?? ""),
  };
}
