/**
 * Keys without a secret: one for each user and identity provider, named on the user's record. What stands where another
 * key has the hash of its secret is no hash, so that nothing that a client sends is ever this key.
 */
import { isId } from "../ids.ts";
import { ownerKey } from "../redis/keys.ts";
import { type Operations, storeOf } from "../run.ts";
import type { KeyRecord, ProviderKeyStore } from "../types/management.ts";
import { insertKey, keyOperations } from "./api-keys.ts";

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
    const display = displayProviderKey(provider);
    const user = ownerKey(organizationId, "user", settings.userId);
    let id = (await context.client.hget(user, field)) ?? "";
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const known = id === "" ? null : await keyOperations.getKey(context, { organizationId, keyId: id });
      if (known !== null && known.deletedAtMs === null) return known;
      const named = { field, replaced: id };
      const key = { display, hashOf: providerKeyHash, audit, named };
      const made = await insertKey(context, organizationId, settings, key);
      if (typeof made !== "string") return made;
      id = made;
    }
    throw new Error("others delete this key as often as it is made");
  },
} satisfies Operations<ProviderKeyStore>);
