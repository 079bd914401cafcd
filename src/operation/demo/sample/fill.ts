/**
 * Fills an invented company with a month of use, for people who try the product, and for tests and pictures. Settings
 * go through the management API; past usage is written by the script that restores usage from the request log, past
 * requests directly into the list of recent requests, and the newest requests are admitted and charged.
 */
import type { Catalog, Model } from "../../../data-path/catalog/catalog.ts";
import { hashKey } from "../../../data-path/auth/key-format.ts";
import { createId } from "../../../data-path/store/ids.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { formatOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { LoggedUsageRows, UsageRow } from "../../../shared/stored/reporting.ts";
import { mapTogether } from "../../../shared/event-loop/map-together.ts";
import { hasChat } from "../../../shared/config/has-chat.ts";
import { dayAt, DAY_MS } from "../../../shared/time/calendar.ts";
import { addFigures, NO_USAGE, type UsageFigures } from "../../../shared/usage/usage-figures.ts";
import { COMPANY_NAME, GROUPS, listKeys, listUsers, type SampleKey } from "./company.ts";
import { chooseLimits } from "./limits.ts";
import { createRandom, type Random } from "./random.ts";
import { drawRequest, listRequests, type SampleRequest } from "./requests.ts";

export type CallManagement = (
  method: string,
  path: string,
  input?: { readonly body?: object },
) => Promise<Readonly<Record<string, unknown>>>;

export interface SampleInput {
  /** Calls the management API as operator. */
  readonly call: CallManagement;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly currency: string;
  /** Number of API keys. */
  readonly keys: number;
}

/** The company in the gateway. */
export interface FilledSample {
  readonly id: string;
  readonly keyIds: readonly string[];
  readonly userIds: readonly string[];
  readonly groupIds: readonly string[];
}

const SEED = 20_261_129;
const TOGETHER = 50;
/** Keys that have a request now, and its typical prompt in tokens: small compared with those of the day. */
const LIVE_KEYS = 60;
const LIVE_PROMPT = 1_000;

/**
 * Creates the company; null if it exists.
 * @throws RangeError if no chat model of the catalog has a price in the currency.
 */
export async function fillSample(input: SampleInput): Promise<FilledSample | null> {
  const { call, store } = input;
  const found = await call("GET", `/api/organizations?search=${encodeURIComponent(COMPANY_NAME)}`);
  if ((found["data"] as readonly { name: string }[]).some(({ name }) => name === COMPANY_NAME)) return null;
  const nowMs = await store.timeMs();
  const plan = planSample(input, nowMs);
  const created = await createCompany(input, plan);
  await writePast(store, plan, created);
  await sendNow(store, plan, created);
  await call("POST", `/api/organizations/${created.id}/spend-corrections`, {
    body: { amount_cents: -250, reason: "credit for the outage of last week", key_id: created.keyIds[0] },
  });
  return created;
}

type Plan = ReturnType<typeof planSample>;

function planSample({ catalog, currency, keys: count }: SampleInput, nowMs: number) {
  const random: Random = createRandom(SEED);
  const users = listUsers(count);
  const keys = listKeys(count, users, random);
  const of = { keys, models: chatModels(catalog, currency), currency, nowMs, random };
  const requests = listRequests(of);
  const userOf = (request: SampleRequest) => keys[request.key]?.user ?? null;
  const groupOf = (request: SampleRequest) => groupOfKey(keys[request.key] as SampleKey, users);
  const limits = chooseLimits({ requests, nowMs, userOf, groupOf });
  return { of, users, keys, requests, limits, nowMs, currency };
}

function groupOfKey(key: SampleKey, users: Plan["users"]): number | null {
  return key.group ?? (key.user === null ? null : (users[key.user]?.group ?? null));
}

function chatModels(catalog: Catalog, currency: string): readonly [Model, ...Model[]] {
  const viewer = { models: null, currency };
  const [first, ...rest] = catalog.listFor(viewer).filter(({ capabilities }) => hasChat([...capabilities]));
  if (first === undefined) throw new RangeError(`No chat model of the catalog has a price in ${currency}.`);
  return [first, ...rest];
}

interface Created extends FilledSample {
  /** The API keys themselves. */
  readonly secrets: readonly string[];
  readonly ownersOf: (key: number) => string;
}

async function createCompany({ call }: SampleInput, plan: Plan): Promise<Created> {
  const { users, keys, limits, currency, nowMs } = plan;
  const body = { name: COMPANY_NAME, currency, ...limits.organization };
  const { id } = (await call("POST", "/api/organizations", { body })) as { id: string };
  const base = `/api/organizations/${id}`;
  const create = async (path: string, fields: object) =>
    (await call("POST", `${base}${path}`, { body: fields })) as { id: string; key: string };
  const groupIds: string[] = [];
  for (const [position, name] of GROUPS.entries()) {
    groupIds.push((await create("/groups", { name, ...limits.groups[position] })).id);
  }
  const idIn = (ids: readonly string[], position: number | null) =>
    position === null ? null : (ids[position] ?? null);
  const userIds = await mapTogether(users, TOGETHER, async ({ name, email, group }, position) => {
    const fields = { name, email, group_id: idIn(groupIds, group), ...limits.users[position] };
    return (await create("/users", fields)).id;
  });
  const made = await mapTogether(keys, TOGETHER, ({ name, note, user, group, feature }, position) =>
    create("/keys", {
      name,
      note,
      user_id: idIn(userIds, user),
      group_id: idIn(groupIds, group),
      ...(feature === null ? {} : { default_tags: `feature=${feature}` }),
      ...limits.keyOf(position),
    }),
  );
  const expires = new Date(nowMs + 4 * DAY_MS).toISOString();
  await create(`/users/${userIds[0]}/raises`, {
    ...limits.raise,
    expires_at: expires,
    reason: "release week",
  });
  await create("/tokens", { name: "terraform", role: "admin" });
  await create("/tokens", { name: "finance", role: "viewer" });
  return {
    id,
    groupIds,
    userIds,
    keyIds: made.map((key) => key.id),
    secrets: made.map(({ key }) => key),
    ownersOf: (position) => {
      const key = keys[position] as SampleKey;
      return formatOwnerIds({
        userId: idIn(userIds, key.user),
        groupId: idIn(groupIds, groupOfKey(key, users)),
      });
    },
  };
}

async function writePast(store: Store, { requests }: Plan, created: Created): Promise<void> {
  await mapTogether(requests, TOGETHER, ({ endedAtMs, ...request }) =>
    store.recordRequest({
      ...identify(request, endedAtMs, created),
      status: request.status,
      errorCode: request.errorCode,
      checks: request.checks,
      trace: request.trace,
      ended: { atMs: endedAtMs, figures: figuresOf(request) },
    }),
  );
  await mapTogether(listUsage(requests, created), TOGETHER, (rows) => store.raiseUsage(created.id, rows, []));
}

type Unended = Omit<SampleRequest, "endedAtMs">;

function identify({ key, model, route, tags, session, trace }: Unended, endedAtMs: number, of: Created) {
  return {
    organizationId: of.id,
    keyId: of.keyIds[key] as string,
    requestId: createId("req", endedAtMs - (trace.timeline?.endMs ?? 0)),
    route,
    model: model.id,
    tags,
    owners: of.ownersOf(key),
    ...(session === null ? {} : { session }),
  };
}

function figuresOf({ tokens, costMicrocents }: Unended): UsageFigures {
  return { ...NO_USAGE, ...tokens, requests: 1, costMicrocents };
}

function listUsage(requests: readonly SampleRequest[], created: Created): readonly LoggedUsageRows[] {
  const all = new Map<string, LoggedUsageRows & { readonly rows: UsageRow[] }>();
  for (const request of requests) {
    const day = dayAt(request.endedAtMs).name;
    const { keyId, owners, model, tags } = identify(request, request.endedAtMs, created);
    const place = `${day} ${keyId} ${model}`;
    const rows = all.get(place) ?? { day, keyId, owners, model, rows: [] };
    all.set(place, rows);
    const known = rows.rows.find((row) => row.tags === tags);
    const row = known ?? { day, keyId, owners, model, tags, ...NO_USAGE };
    addFigures(row, figuresOf(request));
    if (known === undefined) rows.rows.push(row);
  }
  return [...all.values()];
}

/** Charges a request of each of the first keys, so that alerts fire, then admits one more, which caps may reject. */
async function sendNow(store: Store, plan: Plan, created: Created): Promise<void> {
  for (const [position, secret] of created.secrets.slice(0, LIVE_KEYS).entries()) {
    await chargeNow(store, plan, created, position);
    const { keyId, organizationId, requestId, route } = identify(
      drawRequest(plan.of, plan.nowMs, { key: position, prompt: LIVE_PROMPT }),
      await store.timeMs(),
      created,
    );
    const { decision } = await store.admit({
      organizationId,
      keyId,
      requestId,
      route,
      presentedHash: hashKey(secret),
      bucket: "requests",
      metered: true,
      promptTokens: 0,
    });
    if (decision === "admitted") await chargeNow(store, plan, created, position, requestId);
  }
}

async function chargeNow(store: Store, plan: Plan, created: Created, position: number, requestId?: string) {
  const nowMs = await store.timeMs();
  const { endedAtMs: _, ...request } = drawRequest(plan.of, nowMs, { key: position, prompt: LIVE_PROMPT });
  const { status, errorCode, checks, trace, tokens, costMicrocents } = request;
  const day = dayAt(nowMs).name;
  const identity = identify(request, nowMs, created);
  await store.charge({
    ...identity,
    requestId: requestId ?? identity.requestId,
    month: day.slice(0, 7),
    day,
    totalMicrocents: costMicrocents,
    sequence: 1,
    tokens,
    requests: 1,
    estimated: false,
    estimate: null,
    final: { status, errorCode, checks, trace },
  });
}
