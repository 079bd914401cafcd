/** The `gateway.yaml` of a stack under test, as plain objects. */
import { renameSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { byExtent } from "./extent.ts";

/** One entry of `upstreams`, as in the file. */
export interface UpstreamEntry {
  readonly name: string;
  /** Or `urls` or `endpoints`. */
  readonly url?: string;
  readonly [field: string]: unknown;
}

/** One entry of `catalog`, as in the file. */
export interface CatalogEntry {
  readonly id: string;
  readonly upstream: string;
  readonly upstream_model: string;
  readonly [field: string]: unknown;
}

export const CHAT_MODEL = "acme/echo-small";
/** What `CHAT_MODEL` is called at its upstream. */
export const CHAT_UPSTREAM_MODEL = "echo";

/** Micro-cents per token are whole numbers at these prices: 250, 25 and 1,000. */
export const TEST_PRICES = {
  USD: { input: "2.50", cached_input: "0.25", output: "10.00" },
  EUR: { input: "2.30", cached_input: "0.23", output: "9.20" },
};

/** Every `sidecar.transport`, the default first. */
export const TRANSPORTS = ["wire", "grpc-js"] as const;

export type Transport = (typeof TRANSPORTS)[number];

/** `sidecar` of a stack that says nothing of a transport: `TEST_TRANSPORT`, or the gateway's default without it. */
export function sidecarUnderTest(): { readonly transport?: Transport } {
  const named = process.env["TEST_TRANSPORT"];
  if (named === undefined) return {};
  const transport = TRANSPORTS.find((one) => one === named);
  if (transport === undefined) throw new Error(`TEST_TRANSPORT is ${TRANSPORTS.join(" or ")}, not ${named}`);
  return { transport };
}

/**
 * Of tests of what may differ between transports: drain, dying workers, mutual TLS, resets, large bodies, uploads. On each
 * push the one under test, at night each of them.
 */
export const TRANSPORTS_UNDER_TEST = byExtent<readonly Transport[]>({
  push: [sidecarUnderTest().transport ?? TRANSPORTS[0]],
  nightly: TRANSPORTS,
});

/** A catalog entry with every capability, and what the test wants otherwise. */
export function catalogEntry(fields: Partial<CatalogEntry> = {}): CatalogEntry {
  return {
    id: CHAT_MODEL,
    upstream: "local",
    upstream_model: CHAT_UPSTREAM_MODEL,
    context_window: 128_000,
    max_output_tokens: 8_192,
    capabilities: ["tools", "vision", "reasoning", "json_schema"],
    startup_seconds: 10,
    prices: TEST_PRICES,
    ...fields,
  };
}

/** `overrides` laid over `base`: objects are merged key by key, everything else is replaced. */
export function mergeConfig(base: object, overrides: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(overrides)) {
    const before = merged[key];
    merged[key] = isPlainObject(before) && isPlainObject(value) ? mergeConfig(before, value) : value;
  }
  return merged;
}

/** Replaces the file in one step, as editors do. */
export function replaceConfigFile(configFile: string, content: object): void {
  writeFileSync(`${configFile}.new`, stringify(content));
  renameSync(`${configFile}.new`, configFile);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
