/** A month as a busy organization has it: eight keys, three models, 900,000 requests, and the month before. */
import { daysOf, monthAt, monthsBackFrom } from "../../src/shared/time/calendar.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import {
  type AdminUnderTest,
  admit,
  createApiKey,
  createOrganization,
  type MadeKey,
} from "../admin/admin-fixture.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";

const MODELS = ["acme/echo-small", "acme/echo-large", "acme/coder"];
/** Key, its share of the requests, its cap and budget as parts of what it spends. */
const KEYS = [
  { name: "production-api", share: 0.34, cap: 1.8, budget: 1.4 },
  { name: "support-assistant", share: 0.22, cap: 1.5, budget: 0.9 },
  { name: "search-ranking", share: 0.16, cap: 2.2, budget: null },
  { name: "ci", share: 0.1, cap: 0.95, budget: 0.8 },
  { name: "nightly-evaluations", share: 0.08, cap: null, budget: null },
  { name: "data-science-notebooks", share: 0.05, cap: 1.6, budget: 1.3 },
  { name: "anna's laptop", share: 0.03, cap: 3, budget: 2 },
  { name: "the old mobile app, which is switched off in spring", share: 0.02, cap: null, budget: null },
] as const;
/** Of the organization: the forecast is past the cap, but for the month's last days. */
const ORGANIZATION = { cap: 1.2, budget: 1.05 };
const TEAMS = ["team=platform", "team=search", ""];
const REQUESTS_A_MONTH = 900_000;
/** Microcents a token, by model. */
const PRICES = [
  { input: 15, output: 60 },
  { input: 250, output: 1_000 },
  { input: 300, output: 1_500 },
] as const;

export interface FilledMonth {
  readonly id: string;
  readonly keyIds: readonly string[];
}

export async function fillMonth(admin: AdminUnderTest, nowMs: number): Promise<FilledMonth> {
  const id = await createOrganization(admin, { name: "Northwind Traders" });
  const keys: MadeKey[] = [];
  for (const { name } of KEYS) keys.push(await createApiKey(admin, id, { name, requests_per_minute: 600 }));
  const keyIds = keys.map((key) => key.id);
  const months = monthsBackFrom(monthAt(nowMs), 1);
  for (const [age, month] of months.entries()) {
    const days = daysOf(month).filter((day) => Date.parse(day) <= nowMs);
    for (const [position, day] of days.entries()) {
      await fillDay(admin.store, id, { day, position, age, keyIds });
    }
  }
  await fillRequests(admin.store, id, keyIds, nowMs);
  // Sets the time of last use.
  for (const { key } of keys) await admit(admin, key);
  await setLimits(admin, id, keyIds);
  await admin.ok("DELETE", `/api/organizations/${id}/keys/${keyIds[7]}`);
  await admin.ok("PATCH", `/api/organizations/${id}/keys/${keyIds[4]}`, { body: { disabled: true } });
  return { id, keyIds };
}

async function setLimits(admin: AdminUnderTest, id: string, keyIds: readonly string[]): Promise<void> {
  const path = `/api/organizations/${id}`;
  const set = async (one: string, { cap, budget }: { cap: number | null; budget: number | null }) => {
    const spentCents = Number((await admin.ok("GET", one))["spent_cents"]);
    const part = (share: number | null) => (share === null ? null : Math.round(spentCents * share));
    await admin.ok("PATCH", one, { body: { hard_cap_cents: part(cap), budget_cents: part(budget) } });
  };
  await set(path, ORGANIZATION);
  for (const [position, key] of KEYS.entries()) await set(`${path}/keys/${keyIds[position]}`, key);
}

interface Day {
  readonly day: string;
  readonly position: number;
  /** In months. */
  readonly age: number;
  readonly keyIds: readonly string[];
}

/** Less at weekends, more from week to week, and never the same twice. */
async function fillDay(store: Store, organizationId: string, { day, position, age, keyIds }: Day) {
  const weekday = new Date(day).getUTCDay();
  const rhythm = weekday === 0 || weekday === 6 ? 0.35 : 1.2;
  const growth = (1 + position * 0.012) * (age === 0 ? 1 : 0.8);
  await Promise.all(
    KEYS.flatMap(({ share }, key) =>
      MODELS.map((model, position_of_model) => {
        const part = [0.62, 0.26, 0.12][(position_of_model + key) % MODELS.length] ?? 0;
        const wave = 0.85 + 0.3 * Math.abs(Math.sin(position * 1.7 + key * 2.3 + position_of_model));
        const requests = Math.round(((REQUESTS_A_MONTH * share * part) / 30) * rhythm * growth * wave);
        const price = PRICES[position_of_model]!;
        const inputTokens = requests * 640;
        const cachedInputTokens = requests * 410;
        const outputTokens = requests * 180;
        const cost = inputTokens * price.input + outputTokens * price.output + cachedInputTokens * 10;
        const row = {
          day,
          keyId: keyIds[key]!,
          owners: "",
          model,
          tags: TEAMS[key % TEAMS.length]!,
          requests,
          inputTokens,
          cachedInputTokens,
          outputTokens,
          reasoningTokens: 0,
          cacheWriteTokens: 0,
          cacheWrite1hTokens: 0,
          inputAudioTokens: 0,
          outputAudioTokens: 0,
          estimatedRequests: 0,
          costMicrocents: BigInt(cost),
          toolMicrocents: 0n,
        };
        return store.raiseUsage(
          organizationId,
          { day, keyId: row.keyId, owners: "", model, rows: [row] },
          [],
        );
      }),
    ),
  );
}

/** As Envoy says it: one word without a place to break. */
const CONNECTION_REFUSED = "upstream_reset_before_response_started{remote_connection_failure}";

const PRICE_CHECK = {
  name: "price",
  passed: true,
  figures: {
    currency: "USD",
    input_microcents_per_million: "250000000",
    cached_input_microcents_per_million: "25000000",
    output_microcents_per_million: "1000000000",
  },
};

/** The last sixty, of every kind. */
async function fillRequests(
  store: Store,
  organizationId: string,
  keyIds: readonly string[],
  nowMs: number,
): Promise<void> {
  const day = new Date(nowMs).toISOString().slice(0, 10);
  for (let count = 0; count < 60; count += 1) {
    const failure = count % 13 === 0 ? 502 : count % 17 === 0 ? 503 : null;
    const isRefused = failure === null && count % 11 === 0;
    const duration = 900 + ((count * 677) % 9_000);
    const identity = {
      organizationId,
      keyId: keyIds[count % keyIds.length]!,
      requestId: createId("req", nowMs - (60 - count) * 37_000),
      route: count % 3 === 0 ? "POST /v1/messages" : "POST /v1/chat/completions",
    };
    const model = MODELS[count % MODELS.length]!;
    if (isRefused) {
      await store.recordRequest({
        ...identity,
        model: null,
        status: 400,
        errorCode: "model_not_found",
        checks: [{ name: "model", passed: false, figures: { message: 'There is no model "gpt-9".' } }],
        trace: {
          timeline: { bodyMs: 4, routedMs: null, upstreamMs: null, firstTokenMs: null, endMs: 6 },
          upstream: null,
        },
      });
      continue;
    }
    const tokens = {
      ...NO_TOKENS,
      inputTokens: 310 + count * 7,
      cachedInputTokens: (count * 97) % 900,
      outputTokens: 40 + ((count * 53) % 700),
    };
    const isFree = failure !== null;
    await store.charge({
      ...identity,
      month: day.slice(0, 7),
      day,
      model,
      totalMicrocents: isFree
        ? 0n
        : BigInt(tokens.inputTokens * 250 + tokens.cachedInputTokens * 25 + tokens.outputTokens * 1_000),
      sequence: 1,
      tokens: isFree ? NO_TOKENS : tokens,
      requests: 1,
      estimated: false,
      estimate: null,
      final: {
        status: failure ?? 200,
        errorCode: failure === 502 ? "upstream_error" : failure === 503 ? "model_unreachable" : null,
        checks: [PRICE_CHECK],
        trace: {
          timeline: {
            bodyMs: 3,
            routedMs: 6,
            upstreamMs: failure === 503 ? null : 140,
            firstTokenMs: failure === null ? 260 : null,
            endMs: failure === null ? duration : 190,
          },
          upstream: {
            name: model === MODELS[2] ? "vllm-west" : "vllm-east",
            status: failure === null ? 200 : failure === 502 ? 500 : null,
            cause: failure === null ? null : failure === 502 ? "CUDA out of memory" : CONNECTION_REFUSED,
          },
        },
      },
    });
  }
}
