/**
 * Keys without a secret: one for each user and identity provider, named in the user's record. In place of the
 * hash of a secret they have a text that is not a hash, so no client can present them.
 */
import { isId } from "../ids.ts";
import { ownerKey } from "../redis/keys.ts";
import { type Operations, storeOf } from "../run.ts";
import { PROVIDER_KEY_PREFIX, type ProviderKeyStore } from "../../../shared/stored/management.ts";
import { insertKey, keyOperations } from "./api-keys.ts";

/** Attempts if the key is deleted between the look-up and the read of the record. */
const ATTEMPTS = 5;

/** Returns the text that replaces the hash of a secret. */
export function providerKeyHash(keyId: string): string {
  return PROVIDER_KEY_PREFIX + keyId;
}

export function isProviderKeyHash(hash: string): boolean {
  return hash.startsWith(PROVIDER_KEY_PREFIX);
}

/** Returns the display text in place of a key's first and last characters, also used as the key's name. */
export function displayProviderKey(provider: string): string {
  return PROVIDER_KEY_PREFIX + provider;
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
