/** Limits by window and owner: what clients are told of them, and when they let through again. */
import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { readError } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { GOLD_MODEL } from "./metering-figures.ts";
import { canSetClock, CLOCK_NEEDS, withTimedStack } from "./timed-stack.ts";

/** Twenty cents at GOLD_MODEL. */
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
/** A Thursday. */
const NOON = "2026-11-26T12:00:00Z";

describe.skipIf(!canSetClock)(`limits by window${CLOCK_NEEDS}`, () => {
  const timed = withTimedStack(NOON, 2);

  const createOwners = async () => {
    const { organizationId } = await timed.stack.createKey();
    const path = `/api/organizations/${organizationId}`;
    const group = await timed.stack.admin("POST", `${path}/groups`, { name: "Search" });
    const user = await timed.stack.admin("POST", `${path}/users`, { name: "Zoë", group_id: group["id"] });
    const key = await timed.stack.admin("POST", `${path}/keys`, { name: "ci", user_id: user["id"] });
    const paths = {
      key: `${path}/keys/${String(key["id"])}`,
      user: `${path}/users/${String(user["id"])}`,
      group: `${path}/groups/${String(group["id"])}`,
      organization: path,
    };
    return { organizationId, paths, path, key: String(key["key"]), user, group };
  };
  type Of = Awaited<ReturnType<typeof createOwners>>;

  const setLimits = (path: string, limits: readonly object[], more: object = {}) =>
    timed.stack.admin("PATCH", path, { limits, ...more });
  const cap = (period: string, cents: number) => ({ period, kind: "cap", cents });
  const send = (of: Of, fields: object = {}) =>
    timed.stack.send({ path: CHAT_PATH, key: of.key, body: chatBody({ model: GOLD_MODEL, ...fields }) });
  const spend = async (of: Of) => {
    timed.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    const store = await timed.stack.store();
    const read = async () => (await store.readSpend(of.organizationId, null)).organizationMicrocents;
    const before = await read();
    expect((await send(of)).status).toBe(200);
    // A busy Redis can read the next request, by the other worker, before this one's charge.
    await waitFor("the charge", async () => (await read()) > before, { intervalMs: 5 });
  };

  it.each([
    ["key", "day", 'API key "ci"', "Daily", "on 2026-11-26", "2026-11-27T00:00:00Z"],
    ["user", "week", 'user "Zoë"', "Weekly", "in the week of 2026-11-23", "2026-11-30T00:00:00Z"],
    ["group", "month", 'group "Search"', "Monthly", "in November 2026", "2026-12-01T00:00:00Z"],
    ["group", "day", 'group "Search"', "Daily", "on 2026-11-26", "2026-11-27T00:00:00Z"],
    ["organization", "week", "organization ", "Weekly", "in the week of", "2026-11-30T00:00:00Z"],
  ] as const)("of a %s refuse in their %s until it ends", async (scope, period, who, word, when, end) => {
    timed.setClock(NOON);
    const of = await createOwners();
    await setLimits(of.paths[scope], [cap(period, 20)]);
    await spend(of);
    const refused = await send(of);
    expect(refused.status).toBe(402);
    const error = readError(refused);
    expect(error).toMatchObject({ scope, period, resets_at: end, spent_cents: 20, hard_cap_cents: 20 });
    expect(error.message).toContain(`${word} hard cap of 0.20 USD for ${who}`);
    expect(error.message).toContain(`0.20 USD spent ${when}`);
    expect(error.message).toContain(`or wait until ${end}.`);
    timed.setClock(new Date(Date.parse(end) - 1).toISOString());
    expect((await send(of)).status).toBe(402);
    timed.setClock(end);
    expect((await send(of)).status).toBe(200);
  });

  it("of all time never end", async () => {
    timed.setClock(NOON);
    const of = await createOwners();
    await setLimits(of.paths.user, [cap("total", 20)]);
    await spend(of);
    timed.setClock("2031-01-01T00:00:00Z");
    const refused = await send(of);
    expect(readError(refused)).toMatchObject({ scope: "user", period: "total", resets_at: null });
    expect(readError(refused).message).toMatch(
      /^Total hard cap of 0\.20 USD for user "Zoë" reached: 0\.20 USD spent in total\. Raise .* page\.$/,
    );
  });

  it("own what was admitted in their window, wherever it ends", async () => {
    timed.setClock("2026-11-29T23:59:59.999Z");
    const of = await createOwners();
    await setLimits(of.paths.user, [cap("day", 20), cap("week", 20)]);
    const gate = createGate();
    timed.upstream.answerNext({
      kind: "events",
      events: [textChunk("x"), gate, finishChunk(), usageChunk(USAGE)],
    });
    let began = false;
    const body = chatBody({ model: GOLD_MODEL, stream: true });
    const onData = () => {
      began = true;
    };
    const streamed = timed.stack.send({ path: CHAT_PATH, key: of.key, body, onData });
    await waitFor("the stream to begin", () => began);
    timed.setClock("2026-11-30T00:00:00.000Z");
    gate.release();
    expect((await streamed).status).toBe(200);
    // The new day and the new week have seen nothing.
    await spend(of);
    expect((await send(of)).status).toBe(402);
  });

  it("give each of a group its own share, and all of them the pool", async () => {
    timed.setClock(NOON);
    const of = await createOwners();
    await setLimits(of.paths.group, [cap("week", 40)], { member_limits: [cap("week", 20)] });
    await spend(of);
    expect(readError(await send(of))).toMatchObject({ code: "user_hard_cap_reached", scope: "user" });
    const addMember = async (name: string): Promise<Of> => {
      const user = await timed.stack.admin("POST", `${of.path}/users`, { name, group_id: of.group["id"] });
      const key = await timed.stack.admin("POST", `${of.path}/keys`, { name, user_id: user["id"] });
      return { ...of, key: String(key["key"]) };
    };
    await spend(await addMember("Ann"));
    expect(readError(await send(await addMember("Bob")))).toMatchObject({
      code: "group_hard_cap_reached",
      spent_cents: 40,
    });
  });

  it("know what was spent before they were set, and are all in GET /v1/key", async () => {
    timed.setClock("2026-11-24T12:00:00Z");
    const of = await createOwners();
    await spend(of);
    timed.setClock(NOON);
    await spend(of);
    await setLimits(of.paths.user, [cap("week", 30)]);
    await setLimits(of.paths.key, [cap("day", 50), { period: "total", kind: "budget", cents: 100 }]);
    expect(readError(await send(of))).toMatchObject({ scope: "user", period: "week", spent_cents: 40 });
    const status = (await timed.stack.send({ path: "/v1/key", key: of.key })).json();
    expect(status).toMatchObject({
      user: { id: of.user["id"], name: "Zoë" },
      group: { id: of.group["id"], name: "Search" },
      blocked_by: "user",
      headroom_cents: 0,
      limits: [
        { scope: "key", period: "day", kind: "cap", cents: 50, spent_cents: 20, remaining_cents: 30 },
        { scope: "key", period: "total", kind: "budget", cents: 100, spent_cents: 40, resets_at: null },
        { scope: "user", period: "week", kind: "cap", spent_cents: 40, resets_at: "2026-11-30T00:00:00Z" },
      ],
    });
  });

  it("are raised until a moment, and say so", async () => {
    timed.setClock(NOON);
    const of = await createOwners();
    await setLimits(of.paths.user, [cap("week", 20)]);
    await timed.stack.admin("POST", `${of.paths.user}/raises`, {
      period: "week",
      add_cents: 20,
      expires_at: "2026-11-27T00:00:00Z",
      reason: "launch",
    });
    await spend(of);
    await spend(of);
    const raised = { scope: "user", hard_cap_cents: 40, raised_cents: 20, spent_cents: 40 };
    expect(readError(await send(of))).toMatchObject(raised);
    timed.setClock("2026-11-27T00:00:00Z");
    const refused = readError(await send(of));
    expect(refused).toMatchObject({ hard_cap_cents: 20, spent_cents: 40 });
    expect(refused).not.toHaveProperty("raised_cents");
  });

  it("keep their amounts from clients where the organization hides them", async () => {
    timed.setClock(NOON);
    const of = await createOwners();
    await timed.stack.admin("PATCH", of.path, { hide_amounts: true });
    await setLimits(of.paths.group, [cap("week", 20)]);
    await setLimits(of.paths.key, [cap("day", 100)]);
    await spend(of);
    const error = readError(await send(of));
    expect(error).toMatchObject({ scope: "group", period: "week", resets_at: "2026-11-30T00:00:00Z" });
    expect(Object.keys(error).filter((name) => name.endsWith("_cents"))).toEqual([]);
    expect(error.message).toMatch(/^Weekly hard cap for group "Search" reached in the week of 2026-11-23\. /);
    const status = (await timed.stack.send({ path: "/v1/key", key: of.key })).json();
    expect(status).toMatchObject({
      blocked_by: "group",
      headroom_cents: 80,
      organization: { spent_cents: null },
      limits: [
        { scope: "key", cents: 100, spent_cents: 20 },
        { scope: "group", cents: null, spent_cents: null },
      ],
    });
    await timed.stack.admin("PATCH", of.path, { strict_caps: true });
    await setLimits(of.paths.group, [cap("week", 90)]);
    const held = readError(await send(of, { max_tokens: 100_000 }));
    expect(held).toMatchObject({ scope: "group", period: "week" });
    expect(held).not.toHaveProperty("held_cents");
  });

  it("of a month are in GET /v1/key as they are in force", async () => {
    timed.setClock(NOON);
    const of = await createOwners();
    await setLimits(of.paths.key, [cap("month", 20)]);
    await timed.stack.admin("POST", `${of.paths.key}/raises`, {
      period: "month",
      add_cents: 30,
      expires_at: "2026-11-27T00:00:00Z",
      reason: "launch",
    });
    await spend(of);
    const status = async () => (await timed.stack.send({ path: "/v1/key", key: of.key })).json();
    expect(await status()).toMatchObject({
      hard_cap_cents: 50,
      remaining_cents: 30,
      headroom_cents: 30,
      blocked_by: null,
      limits: [{ scope: "key", period: "month", cents: 50, raised_cents: 30 }],
    });
    expect(await timed.stack.admin("GET", of.paths.key)).toMatchObject({ state: "active" });
    timed.setClock("2026-11-27T00:00:00Z");
    expect(await status()).toMatchObject({ hard_cap_cents: 20, remaining_cents: 0, blocked_by: "key" });
    expect(await timed.stack.admin("GET", of.paths.key)).toMatchObject({ state: "cap_reached" });
  });

  it("hold the worst case of requests in flight with strict caps, in every window", async () => {
    timed.setClock(NOON);
    const of = await createOwners();
    await timed.stack.admin("PATCH", of.path, { strict_caps: true });
    await setLimits(of.paths.group, [cap("week", 20)]);
    const refused = await send(of, { max_tokens: 100_000 });
    expect(readError(refused)).toMatchObject({
      code: "group_hard_cap_reached",
      period: "week",
      spent_cents: 0,
      held_cents: 0,
    });
  });
});
