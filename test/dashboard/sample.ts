/** The dashboard on sample data: the invented company of `up --sample-data`, with three models on two upstreams. */
import { createCatalog } from "../../src/data-path/catalog/catalog.ts";
import { fillSample, type FilledSample } from "../../src/operation/demo/sample/fill.ts";
import { parseConfig } from "../../src/shared/config/load.ts";
import type { AdminServerOptions } from "../../src/management/admin/server.ts";
import { type AdminUnderTest, startAdmin } from "../admin/admin-fixture.ts";

const CATALOG = `
upstreams: [{name: vllm-east, url: "http://127.0.0.1:8000"}, {name: vllm-west, url: "http://127.0.0.1:8001"}]
catalog:
  - {id: acme/echo-small, upstream: vllm-east, upstream_model: echo, context_window: 200000, max_output_tokens: 8192,
     aliases: [gpt-4o-mini, claude-haiku-4-5],
     prices: {USD: {input: "0.40", cached_input: "0.10", output: "1.60"}, EUR: {input: "0.37", output: "1.47"}}}
  - {id: acme/echo-large, upstream: vllm-east, upstream_model: echo, context_window: 200000, max_output_tokens: 8192,
     aliases: [gpt-4o], prices: {USD: {input: "2.50", cached_input: "0.25", output: "10.00"}}}
  - {id: acme/coder, upstream: vllm-west, upstream_model: coder, context_window: 200000, max_output_tokens: 8192,
     prices: {USD: {input: "3.00", cached_input: "0.30", output: "15.00"}}}
`;

const catalog = createCatalog(parseConfig(CATALOG, { baseDir: "/", env: {} }));

/** The same models without an organization. */
export const startModels = (options: Partial<AdminServerOptions> = {}): Promise<AdminUnderTest> =>
  startAdmin({ catalog: () => catalog, ...options });

export async function startSample(
  keys: number,
  options: Partial<AdminServerOptions> = {},
): Promise<{ admin: AdminUnderTest; filled: FilledSample }> {
  const admin = await startModels(options);
  const filled = await fillSample({
    call: (...given) => admin.ok(...given),
    store: admin.store,
    catalog,
    currency: "USD",
    keys,
  });
  if (filled === null) throw new Error("a new Redis had the sample organization");
  return { admin, filled };
}
