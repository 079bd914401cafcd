import { randomUUID } from "node:crypto";
import { createKey, displayKey, hashKey } from "../../src/data-path/auth/key-format.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { KEY_SETTINGS, type KeySettings } from "../../src/shared/settings/key.ts";
import { ORGANIZATION_SETTINGS, type OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";

export interface CreatedKey {
  readonly id: string;
  /** The API key itself. */
  readonly key: string;
  readonly organizationId: string;
}

const ORGANIZATION: Omit<OrganizationSettings, "name"> = {
  ...defaultsOf(ORGANIZATION_SETTINGS),
  currency: "USD",
};

const KEY: KeySettings = { ...defaultsOf(KEY_SETTINGS), name: "test", requestsPerMinute: 1_000_000 };

/** A new organization with one key, straight in the store. */
export async function createTestKey(
  store: Store,
  settings: Partial<KeySettings> = {},
  organization: Partial<OrganizationSettings> = {},
): Promise<CreatedKey> {
  const name = `Test ${randomUUID()}`;
  const result = await store.createOrganization({ ...ORGANIZATION, name, ...organization });
  if (result.outcome !== "created") throw new Error(`the name is that of ${result.holder.id}`);
  return addTestKey(store, result.organization.id, settings);
}

/** One more key of an organization. */
export async function addTestKey(
  store: Store,
  organizationId: string,
  settings: Partial<KeySettings> = {},
): Promise<CreatedKey> {
  const key = createKey();
  const stored = { hash: hashKey(key), display: displayKey(key) };
  const record = await store.createKey(organizationId, { ...KEY, ...settings }, stored);
  if (record === null) throw new Error("the organization of the new key is not there");
  return { id: record.id, key, organizationId };
}
