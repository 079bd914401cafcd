/** Every combination of caps, spend and open streams, against a model of the documented rules. */
import { describe, expect, it } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { readError } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import {
  addKey,
  GOLD_MODEL,
  METERED_CATALOG,
  readSpend,
  TEMPLATE_TOKENS,
  worstGoldCents,
} from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack(METERED_CATALOG);

const MICROCENTS = 1_000_000n;
const KEY_CAP_CENTS = 1_000;
const ORGANIZATION_CAP_CENTS = 3_000;
const MAX_TOKENS = 5;
const WORST_MICROCENTS = BigInt(worstGoldCents(MAX_TOKENS)) * MICROCENTS;
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: MAX_TOKENS };
/** Of an open stream that has reported USAGE: ten prompt tokens that may come from the cache, five generated ones. */
const STREAMED_MICROCENTS = 11n * MICROCENTS;

/** What a cap leaves when the request comes: cap less spend less what is held. Null: there is no cap. */
const ROOMS = {
  "no cap": null,
  "room for the worst case": WORST_MICROCENTS,
  "a microcent less": WORST_MICROCENTS - 1n,
  "a microcent": 1n,
  "at the cap": 0n,
  "a microcent above it": -1n,
} as const;
type Room = keyof typeof ROOMS;
const ROOM_NAMES = Object.keys(ROOMS) as readonly Room[];

interface Situation {
  readonly keyRoom: Room;
  readonly organizationRoom: Room;
  readonly isStrict: boolean;
  /** What is set aside for the open stream beside what it is known to have cost. */
  readonly heldMicrocents: bigint;
}

/**
 * The rules as documents state them: a cap that spend has reached refuses, the key's first; a strict one refuses as well
 * what could pass it, that which leaves least room.
 */
function predict({ keyRoom, organizationRoom, isStrict, heldMicrocents }: Situation): string {
  const caps = [
    { scope: "key", room: ROOMS[keyRoom] },
    { scope: "organization", room: ROOMS[organizationRoom] },
  ];
  const reached = caps.find(({ room }) => room !== null && room + heldMicrocents <= 0n);
  const tooSmall = caps.filter(({ room }) => isStrict && room !== null && room < WORST_MICROCENTS);
  const [tightest] = tooSmall.toSorted((one, other) => Number((one.room ?? 0n) - (other.room ?? 0n)));
  const refusing = reached ?? tightest;
  if (refusing === undefined) return "200";
  return refusing.scope === "key" ? "402 key hard_cap_reached" : "402 organization org_hard_cap_reached";
}

/** A key with a second one beside it, whose spend counts for the organization only. */
interface Tenant {
  readonly key: CreatedKey;
  readonly other: CreatedKey;
}

async function createTenant(situation: Situation): Promise<Tenant> {
  const { keyRoom, organizationRoom, isStrict } = situation;
  const key = await chat.stack.createKey(
    { limits: monthLimits({ cap: ROOMS[keyRoom] === null ? null : KEY_CAP_CENTS }) },
    {
      limits: monthLimits({ cap: ROOMS[organizationRoom] === null ? null : ORGANIZATION_CAP_CENTS }),
      strictCaps: isStrict,
    },
  );
  return { key, other: await addKey(chat.stack, key, { limits: [] }) };
}

/** Corrects spend until each cap leaves what the situation says. */
async function spendUpTo({ key, other }: Tenant, situation: Situation): Promise<void> {
  const { keyRoom, organizationRoom, heldMicrocents } = situation;
  const target = (capCents: number, room: Room) =>
    BigInt(capCents) * MICROCENTS - (ROOMS[room] ?? WORST_MICROCENTS) - heldMicrocents;
  const store = await chat.stack.store();
  const correct = (of: CreatedKey, amountMicrocents: bigint) =>
    store.correct({
      organizationId: of.organizationId,
      keyId: of.id,
      amountMicrocents,
      correctionId: `corr_${of.id.slice(4)}`,
    });
  await correct(key, target(KEY_CAP_CENTS, keyRoom) - (await readSpend(chat.stack, key)).key);
  const { organization } = await readSpend(chat.stack, key);
  await correct(other, target(ORGANIZATION_CAP_CENTS, organizationRoom) - organization);
}

function send({ key }: Tenant, fields: object = {}) {
  return chat.send({
    key: key.key,
    body: chatBody({ model: GOLD_MODEL, max_tokens: MAX_TOKENS, ...fields }),
  });
}

async function describeRequest(tenant: Tenant): Promise<string> {
  const answer = await send(tenant);
  if (answer.status === 200) return "200";
  const { scope, code } = readError(answer);
  return `${answer.status} ${String(scope)} ${String(code)}`;
}

/** A stream on each key, of which the upstream has told what it cost so far; resolves when that is on record. */
async function openStreams(tenants: readonly Tenant[]): Promise<{ close(): Promise<void> }> {
  const gate = createGate();
  chat.upstream.answer({
    kind: "events",
    events: [textChunk("x"), usageChunk(USAGE), gate, finishChunk(), usageChunk(USAGE)],
  });
  const answers = tenants.map((tenant) => send(tenant, { stream: true }));
  for (const { key } of tenants) {
    await waitFor("the stream to count", async () => {
      const spend = await readSpend(chat.stack, key);
      return spend.key === STREAMED_MICROCENTS && spend.organization === STREAMED_MICROCENTS;
    });
  }
  return {
    async close() {
      gate.release();
      await Promise.all(answers);
    },
  };
}

/** Of the last request that the upstream got: what a strict cap holds for it. */
function worstOfLastRequest(): bigint {
  const bytes = JSON.stringify(chat.upstream.lastRequest.body).length;
  return BigInt(bytes + TEMPLATE_TOKENS + 2 * MAX_TOKENS) * MICROCENTS;
}

describe.each([
  { isStrict: false, hasOpenStream: false },
  { isStrict: false, hasOpenStream: true },
  { isStrict: true, hasOpenStream: false },
  { isStrict: true, hasOpenStream: true },
])("caps (strict: $isStrict, a stream open: $hasOpenStream)", ({ isStrict, hasOpenStream }) => {
  it("refuse what the documented rules refuse, whatever the key's and the organization's leave", async () => {
    const rooms = ROOM_NAMES.flatMap((keyRoom) =>
      ROOM_NAMES.map((organizationRoom) => ({ keyRoom, organizationRoom })),
    );
    const tenants = await Promise.all(
      rooms.map((each) => createTenant({ ...each, isStrict, heldMicrocents: 0n })),
    );
    const streams = hasOpenStream ? await openStreams(tenants) : null;
    const heldMicrocents = isStrict && hasOpenStream ? worstOfLastRequest() - STREAMED_MICROCENTS : 0n;
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    const situations = rooms.map((each) => ({ ...each, isStrict, heldMicrocents }));
    const nameOf = ({ keyRoom, organizationRoom }: Situation) =>
      `key: ${keyRoom}, organization: ${organizationRoom}`;
    const seen = await Promise.all(
      tenants.map(async (tenant, index) => {
        const situation = situations[index];
        if (situation === undefined) throw new Error("there is a situation for each tenant");
        await spendUpTo(tenant, situation);
        return [nameOf(situation), await describeRequest(tenant)];
      }),
    );
    await streams?.close();
    expect(Object.fromEntries(seen)).toEqual(
      Object.fromEntries(situations.map((each) => [nameOf(each), predict(each)])),
    );
  });
});
