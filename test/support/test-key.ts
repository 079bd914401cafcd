import { createKey, displayKey, hashKey } from "../../src/auth/key-format.ts";
import type { Store } from "../../src/store/types.ts";
import type { KeySettings } from "../../src/settings/key.ts";
import type { OrganizationSettings } from "../../src/settings/organization.ts";

export interface CreatedKey {
  readonly id: string;
  /** The API key itself. */
  readonly key: string;
  readonly organizationId: string;
}

const ORGANIZATION: OrganizationSettings = {
  name: "Test",
  currency: "USD",
  hardCapCents: null,
  budgetCents: null,
  strictCaps: false,
  suspended: false,
  notifications: { dashboard: true, emails: [], webhook: null },
  keyDefaults: { requestsPerMinute: null, hardCapCents: null, budgetCents: null },
};

const KEY: KeySettings = {
  name: "test",
  requestsPerMinute: 1_000_000,
  hardCapCents: null,
  budgetCents: null,
  allowedModels: null,
  maxConcurrentRequests: null,
  expiresAtMs: null,
  disabled: false,
};

/** A new organization with one key, straight in the store. */
export async function createTestKey(
  store: Store,
  settings: Partial<KeySettings> = {},
  organization: Partial<OrganizationSettings> = {},
): Promise<CreatedKey> {
  const { id } = await store.createOrganization({ ...ORGANIZATION, ...organization });
  return addTestKey(store, id, settings);
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
