/** Fills the running gateway of this host with sample data. */
import { createCatalog } from "../../../data-path/catalog/catalog.ts";
import { openStore } from "../../../data-path/store/open-store.ts";
import type { Config } from "../../../shared/config/schema.ts";
import { createLogger } from "../../../shared/telemetry/logger.ts";
import { billingCurrency } from "../organization.ts";
import { fillSample, type SampleInput } from "./fill.ts";

const TIMEOUT_MS = 10_000;

/** Returns false if the sample organization exists. */
export async function fillSampleOf(
  config: Config,
  input: Pick<SampleInput, "call" | "keys">,
): Promise<boolean> {
  const { store, close } = await openStore(config, createLogger("sample", "fatal"), {
    commandTimeoutMs: TIMEOUT_MS,
    readyTimeoutMs: TIMEOUT_MS,
  });
  try {
    const catalog = createCatalog(config);
    const filled = await fillSample({ ...input, store, catalog, currency: billingCurrency(config) });
    return filled !== null;
  } finally {
    close();
  }
}
