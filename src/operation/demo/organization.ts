/** Organization and key created by a first run, so that the first request can be sent at once. */
import { createKey, displayKey, hashKey, isWellFormedKey } from "../../data-path/auth/key-format.ts";
import type { Config } from "../../shared/config/schema.ts";
import { KEY_SETTINGS } from "../../shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../shared/settings/organization.ts";
import { defaultsOf } from "../../shared/settings/table.ts";
import type { Store } from "../../shared/stored/store.ts";

/**
 * Returns the key of the demo organization: the stored one if the gateway still knows it, otherwise a new
 * one, with a new organization if there is none of this name.
 */
export async function ensureDemoKey(store: Store, config: Config, storedKey: string | null): Promise<string> {
  const organizationId = storedKey === null ? null : await findOrganization(store, storedKey);
  if (storedKey !== null && organizationId !== null) return storedKey;
  const result = await store.createOrganization({
    ...defaultsOf(ORGANIZATION_SETTINGS),
    name: "Demo",
    currency: billingCurrency(config),
  });
  const key = createKey();
  await store.createKey(
    result.outcome === "created" ? result.organization.id : result.holder.id,
    { ...defaultsOf(KEY_SETTINGS), name: "demo" },
    { hash: hashKey(key), display: displayKey(key) },
  );
  return key;
}

async function findOrganization(store: Store, key: string): Promise<string | null> {
  if (!isWellFormedKey(key)) return null;
  const reference = await store.lookUpKey(hashKey(key));
  return reference?.organizationId ?? null;
}

/** Returns a currency in which every model has a price, preferably US dollars. */
export function billingCurrency(config: Config): string {
  const currencies = Object.keys(config.catalog[0]?.prices ?? {});
  const common = currencies.filter((currency) => config.catalog.every((model) => currency in model.prices));
  return common.includes("USD") ? "USD" : (common[0] ?? currencies[0] ?? "USD");
}
