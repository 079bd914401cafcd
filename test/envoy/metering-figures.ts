/** What tests of spend read and compute: figures of the gateway on one side, the upstream's own counts on the other. */
import { join } from "node:path";
import { Redis } from "ioredis";
import { createKey, displayKey, hashKey } from "../../src/data-path/auth/key-format.ts";
import { requestBucketKey } from "../../src/data-path/store/redis/keys.ts";
import { type ChatStack, chatBody } from "../support/chat-stack.ts";
import { waitFor } from "../support/wait.ts";
import type { HttpAnswer } from "../support/http.ts";
import type { ReportedUsage } from "../support/scripted-answer.ts";
import type { Stack } from "../support/stack.ts";
import type { CreatedKey } from "../support/test-key.ts";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import {
  catalogEntry,
  type CatalogEntry,
  CHAT_MODEL,
  CHAT_UPSTREAM_MODEL,
} from "../support/gateway-config.ts";

export const MESSAGES_PATH = "/v1/messages";
/** One cent for a prompt token, a tenth for a cached one, two for a generated one. */
export const GOLD_MODEL = "acme/gold";
/** Prices that do not come out even: 1.23, 0.123 and 4.56789 microcents. */
export const ODD_MODEL = "acme/odd";
/** Has a price in USD only. */
export const DOLLAR_MODEL = "acme/dollar";

const CENT = 1_000_000n;

export const METERED_CATALOG: readonly CatalogEntry[] = [
  catalogEntry(),
  catalogEntry({
    id: GOLD_MODEL,
    aliases: ["gold"],
    max_output_tokens: 100,
    prices: { USD: { input: "10000", cached_input: "1000", output: "20000" } },
    profile: { passthrough_fields: ["retrieved"] },
  }),
  catalogEntry({
    id: ODD_MODEL,
    prices: { USD: { input: "0.0123", cached_input: "0.00123", output: "0.0456789" } },
  }),
  catalogEntry({
    id: DOLLAR_MODEL,
    prices: { USD: { input: "1", cached_input: "1", output: "1" } },
  }),
];

/** What `CHAT_MODEL` costs in USD: 250, 25 and 1,000 microcents a token. */
export function costOf(usage: ReportedUsage): bigint {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  return BigInt((promptTokens - cachedTokens) * 250 + cachedTokens * 25 + completionTokens * 1_000);
}

/** What `GOLD_MODEL` costs in USD. */
export function goldCostOf({ promptTokens, cachedTokens, completionTokens }: ReportedUsage): bigint {
  return (
    BigInt(promptTokens - cachedTokens) * CENT +
    BigInt(cachedTokens) * (CENT / 10n) +
    BigInt(completionTokens) * 2n * CENT
  );
}

/** Of every model here: what a strict cap adds for the chat template. */
export const TEMPLATE_TOKENS = 64;

/** What a small chat with GOLD_MODEL can cost at most: a cent for each byte that goes upstream, two for each token of its answers. */
export function worstGoldCents(maxTokens: number, fields: { n?: number } = {}): number {
  const limit = { max_tokens: maxTokens, max_completion_tokens: maxTokens };
  const body = { ...chatBody(), model: CHAT_UPSTREAM_MODEL, ...limit, ...fields };
  return JSON.stringify(body).length + TEMPLATE_TOKENS + 2 * maxTokens * (fields.n ?? 1);
}

/** Microcents of the month, by the gateway's own record. */
export async function readSpend(
  stack: Stack,
  key: CreatedKey,
): Promise<{ key: bigint; organization: bigint }> {
  const spend = await (await stack.store()).readSpend(key.organizationId, null);
  return { key: spend.keyMicrocents.get(key.id) ?? 0n, organization: spend.organizationMicrocents };
}

export interface UsageTotals {
  readonly requests: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costMicrocents: bigint;
}

/** The usage rows of the month, added up. */
export async function readUsageTotals(stack: Stack, key: CreatedKey): Promise<UsageTotals> {
  const { rows } = await (await stack.store()).readUsage(key.organizationId, null);
  return rows.reduce<UsageTotals>(
    (sum, row) => ({
      requests: sum.requests + row.requests,
      inputTokens: sum.inputTokens + row.inputTokens,
      cachedInputTokens: sum.cachedInputTokens + row.cachedInputTokens,
      outputTokens: sum.outputTokens + row.outputTokens,
      costMicrocents: sum.costMicrocents + row.costMicrocents,
    }),
    { requests: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costMicrocents: 0n },
  );
}

/** `GET /v1/key`. */
export async function readKeyStatus(stack: Stack, key: CreatedKey): Promise<Record<string, unknown>> {
  return (await stack.send({ path: "/v1/key", key: key.key })).json();
}

/** The body of `GET /v1/requests/{id}`. */
export interface RequestRow {
  readonly status: number | null;
  readonly error_code: string | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly estimated: boolean;
  readonly cost_microcents: number;
  readonly cost_cents: number;
  readonly model: string | null;
  readonly requested_model: string | null;
  readonly route: string;
  readonly cost_details: object | null;
  readonly checks: readonly { readonly name: string; readonly passed: boolean; readonly figures: object }[];
}

/** `GET /v1/requests/{id}` of the request that was answered so. */
export async function readRequest(stack: Stack, key: CreatedKey, answer: HttpAnswer): Promise<RequestRow> {
  const id = String(answer.headers["x-request-id"]);
  return (await readRequestById(stack, key.key, id)).json() as unknown as RequestRow;
}

export function readRequestById(stack: Stack, key: string, id: string): Promise<HttpAnswer> {
  return stack.send({ path: `/v1/requests/${id}`, key });
}

/** A request of the messages route. */
export function messagesBody(fields: object = {}, content = "hello big world"): Record<string, unknown> {
  return { model: CHAT_MODEL, max_tokens: 1_000, messages: [{ role: "user", content }], ...fields };
}

/** One more key of the same organization, with the same settings and what the test wants otherwise. */
export async function addKey(
  stack: Stack,
  beside: CreatedKey,
  changes: Partial<KeySettings> = {},
): Promise<CreatedKey> {
  const store = await stack.store();
  const settings = await store.getKey({ organizationId: beside.organizationId, keyId: beside.id });
  if (settings === null) throw new Error("there is no key to take the settings from");
  const key = createKey();
  const stored = { hash: hashKey(key), display: displayKey(key) };
  const record = await store.createKey(beside.organizationId, { ...settings, ...changes }, stored);
  if (record === null) throw new Error("there is no organization for the key");
  return { id: record.id, key, organizationId: beside.organizationId };
}

/** A connection to the stack's own Redis, to look at it or to hold it up. The test disconnects it. */
export function connectRedis(stack: Stack): Redis {
  return new Redis({ path: join(stack.dir, "run/redis.sock"), protocol: 2 });
}

/** Resolves when the first request of a new key was admitted: its bucket is there then, and nothing else is yet. */
export async function waitForAdmission(redis: Redis, key: CreatedKey): Promise<void> {
  const bucket = requestBucketKey(key.organizationId, key.id);
  await waitFor("the admission", async () => (await redis.exists(bucket)) === 1);
}

const WORDS = 2_000;

/**
 * Resolves once tokens are counted by each worker's tokenizer: it loads with the first text, and until it has, the gateway
 * estimates by bytes.
 */
export async function waitForTokenizer(chat: ChatStack, model: string): Promise<void> {
  const { max_tokens: _, ...body } = messagesBody({ model }, " word".repeat(WORDS));
  await waitFor("the tokenizer to be loaded", async () => {
    const answers = await onEachWorker(() => chat.send({ path: `${MESSAGES_PATH}/count_tokens`, body }));
    // Five bytes a word: an estimate by bytes is a quarter above.
    return answers.every((answer) => Number(answer.json()["input_tokens"]) < WORDS * 1.1);
  });
}

/** One for each of two workers, and some more since requests do not take turns. */
export function onEachWorker<T>(ask: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: 12 }, ask));
}
