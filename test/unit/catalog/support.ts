import { createCatalog, type Catalog } from "../../../src/data-path/catalog/catalog.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";
import type { Config } from "../../../src/shared/config/schema.ts";

interface Entry {
  readonly id: string;
  /** Further lines of the entry, four spaces in. */
  readonly extra?: string;
  /** "USD: {…}"; a USD price when left out. */
  readonly prices?: string;
}

const USD = 'USD: {input: "2.50", output: "10.00"}';

/** A configuration of one upstream and these models. */
export function createConfigOf(entries: readonly Entry[]): Config {
  const models = entries.map(
    ({ id, extra = "", prices = USD }) =>
      `  - id: ${id}\n    upstream: local\n    context_window: 128000\n    max_output_tokens: 8192\n` +
      `${extra}    prices: {${prices}}\n`,
  );
  const upstream = 'upstreams: [{name: local, url: "http://127.0.0.1:8000", path_prefix: /api/v1}]';
  return parseConfig(`${upstream}\ncatalog:\n${models.join("")}`, { baseDir: "/etc/gateway", env: {} });
}

/** Its catalog. */
export function createCatalogOf(entries: readonly Entry[]): Catalog {
  return createCatalog(createConfigOf(entries));
}
