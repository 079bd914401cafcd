/**
 * Keys without a secret: one for each user and identity provider, named on the user's record. What stands where another
 * key has the hash of its secret is no hash, so that nothing that a client sends is ever this key.
 */
import type { StoreContext } from "../context.ts";
import { createId, isId } from "../ids.ts";
import { timeMs } from "../redis/clock.ts";
import { auditKey, keyListKey, keyRecordKey, organizationKey, ownerKey } from "../redis/keys.ts";
import { type Operations, storeOf } from "../run.ts";
import type { KeyRecord, ProviderKeyStore } from "../types/management.ts";
import { ensureWindows, periodsOf } from "../usage/windows.ts";
import { formatAuditEntry } from "./audit.ts";
import { missingOwnerAt, namesOfOwners } from "./key-owners.ts";
import { formatKeySettings, parseKeyRecord } from "./records.ts";

const PREFIX = "jwt:";
/** Between the look-up and the record somebody deletes the key: it is looked up again. */
const ATTEMPTS = 5;

/** What the gateway presents in a secret's place. */
export function providerKeyHash(keyId: string): string {
  return PREFIX + keyId;
}

export function isProviderKeyHash(hash: string): boolean {
  return hash.startsWith(PREFIX);
}

/** What people see where other keys have their first and last characters, and the key's name. */
export function displayProviderKey(provider: string): string {
  return PREFIX + provider;
}

/** Whether a key has no secret. */
export function isProviderKey({ display }: Pick<KeyRecord, "display">): boolean {
  return display.startsWith(PREFIX);
}

export const createProviderKeyStore = storeOf<ProviderKeyStore>({
  async findOrCreateProviderKey(context, organizationId, provider, settings, audit) {
    if (!isId("org", organizationId)) return null;
    const field = `provider_key:${provider}`;
    const user = ownerKey(organizationId, "user", settings.userId);
    let id = (await context.client.hget(user, field)) ?? "";
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const known = id === "" ? null : await readKey(context, organizationId, id);
      if (known !== null) return known;
      const made = await createKey(
        context,
        { organizationId, provider, settings, audit },
        { field, replaced: id },
      );
      if (typeof made !== "string") return made;
      id = made;
    }
    throw new Error("others delete this key as often as it is made");
  },
} satisfies Operations<ProviderKeyStore>);

type Creation = Parameters<ProviderKeyStore["findOrCreateProviderKey"]>;

interface NewKey {
  readonly organizationId: string;
  readonly provider: string;
  readonly settings: Creation[2];
  readonly audit: Creation[3];
}

/** The key; the id of the one that another has made; null without an organization. */
async function createKey(
  context: StoreContext,
  { organizationId, provider, settings, audit }: NewKey,
  { field, replaced }: { readonly field: string; readonly replaced: string },
): Promise<KeyRecord | string | null> {
  await ensureWindows(context, organizationId, periodsOf(settings.limits, { countsMonth: false }));
  const createdAtMs = await timeMs(context);
  const id = createId("key", createdAtMs);
  const display = displayProviderKey(provider);
  const record: KeyRecord = {
    ...settings,
    id,
    organizationId,
    display,
    createdAtMs,
    deletedAtMs: null,
    formerKeyUntilMs: null,
    version: 1,
  };
  const names = [
    organizationKey(organizationId),
    keyRecordKey(organizationId, id),
    keyListKey(organizationId),
    auditKey(organizationId),
  ];
  const owners = namesOfOwners(organizationId, settings);
  const created = await context.client.igwCreateKey(
    String(names.length + owners.length),
    ...names,
    ...owners,
    id,
    formatAuditEntry(audit?.(record)),
    field,
    replaced,
    ...formatKeySettings(settings),
    ...Object.entries({
      hash: providerKeyHash(id),
      display,
      created_at: String(createdAtMs),
      version: "1",
    }).flat(),
  );
  if (created === 0) return null;
  if (typeof created === "string") return created;
  if (created !== 1) throw missingOwnerAt(settings, Number(created) - names.length - 1);
  return record;
}

/** Null for one that was deleted. */
async function readKey(
  { client }: StoreContext,
  organizationId: string,
  id: string,
): Promise<KeyRecord | null> {
  const fields = await client.hgetall(keyRecordKey(organizationId, id));
  if (Object.keys(fields).length === 0) return null;
  const record = parseKeyRecord(organizationId, id, fields);
  return record.deletedAtMs === null ? record : null;
}
