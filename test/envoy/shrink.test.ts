/** `on_cap: shrink`: a request that strict caps have no room for goes upstream with as long an answer as they have. */
import { describe, expect, it } from "vitest";
import { CHAT_PATH } from "../support/chat-stack.ts";
import { CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import { finishChunk, textChunk, usageChunk } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";
import { cap, CHAT, createOwners, NATIVE, type Owners, ROUTES, talk, withRoutes } from "./limited-routes.ts";
import { MESSAGES_PATH } from "./metering-figures.ts";

const chat = withRoutes();
const SHRINK = { onCap: "shrink" } as const;
/** What was asked for. */
const ASKED = 30_000;

const CHAT_ROUTE = ROUTES["chat"]!;
const answer = (body: object = CHAT_ROUTE.answer) => chat.upstream.answer({ kind: "json", body });
const sendChat = (owners: Owners, fields: object = {}): Promise<HttpAnswer> =>
  chat.send({ path: CHAT_PATH, key: owners.key, body: { model: CHAT, ...talk("hello"), ...fields } });
const shrunkTo = ({ headers }: HttpAnswer): number => Number(headers["x-budget-max-tokens"]);
const readHeld = async ({ organizationId }: Owners): Promise<bigint> =>
  (await (await chat.stack.store()).readSpend(organizationId, null)).organizationHeldMicrocents;

/** With a cap of ten cents, which are 10,000 tokens of answer, in a window of an owner above the key. */
async function createCapped(settings: object = {}): Promise<Owners> {
  const owners = await createOwners(chat, { ...SHRINK, ...settings });
  await cap(chat, owners, [{ scope: "group", period: "week", cents: 10 }]);
  return owners;
}

describe("a request that does not fit", () => {
  it.each(Object.entries(ROUTES))(
    "goes as if it had asked for what does, by one more attempt at exactly that: %s",
    async (_name, route) => {
      const owners = await createCapped();
      const free = await createOwners(chat);
      answer(route.answer);
      const send = ({ key }: Owners, limit: number) => {
        const own = route.answers === undefined ? {} : { [route.answers]: 3 };
        const body = { model: route.model, ...route.prompt("hello é"), ...own, [route.limit]: limit };
        return chat.send({ path: route.path, key, body });
      };
      const shrunk = await send(owners, ASKED);
      expect(shrunk.status).toBe(200);
      const maxTokens = shrunkTo(shrunk);
      expect(maxTokens).toBeGreaterThan(256);
      const sent = chat.upstream.lastRequest.bodyBytes.toString();
      expect((await send(free, maxTokens)).status).toBe(200);
      expect(sent).toBe(chat.upstream.lastRequest.bodyBytes.toString());
    },
  );

  it("passes a native body on byte for byte but for the model's name and the limit", async () => {
    const owners = await createCapped();
    answer(ROUTES["native messages"]!.answer);
    const text = `{ "max_tokens": 3e4,  "model":"${NATIVE}",
  "messages":[{"role":"user","content":"Hi \\u00e9 é"}], "temperature":1.50 }`;
    const headers = { "content-type": "application/json" };
    const shrunk = await chat.send({ path: MESSAGES_PATH, key: owners.key, body: text, headers });
    expect(shrunk.status).toBe(200);
    const expected = text.replace(NATIVE, CHAT_UPSTREAM_MODEL).replace("3e4", String(shrunkTo(shrunk)));
    expect(chat.upstream.lastRequest.bodyBytes.toString()).toBe(expected);
  });

  it("passes a native response on byte for byte but for the model's name and the limit", async () => {
    const owners = await createCapped();
    answer(ROUTES["native responses"]!.answer);
    const text = `{ "model":"${NATIVE}",  "input" : "Hi \\u00e9 é",
  "max_output_tokens": 30000 , "temperature":1.50 }`;
    const headers = { "content-type": "application/json" };
    const shrunk = await chat.send({ path: "/v1/responses", key: owners.key, body: text, headers });
    expect(shrunk.status).toBe(200);
    const expected = text.replace(NATIVE, CHAT_UPSTREAM_MODEL).replace("30000", String(shrunkTo(shrunk)));
    expect(chat.upstream.lastRequest.bodyBytes.toString()).toBe(expected);
  });

  it("holds all that is left but for less than one token of each answer", async () => {
    const owners = await createCapped();
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: CHAT_ROUTE.answer });
    const shrunk = sendChat(owners, { max_tokens: ASKED, n: 2 });
    await chat.upstream.waitForRequests(1);
    const held = await readHeld(owners);
    expect(held).toBeLessThanOrEqual(10_000_000n);
    expect(held).toBeGreaterThan(10_000_000n - 2_000n);
    gate.release();
    expect(shrunkTo(await shrunk)).toBeLessThan(5_000);
    expect(await readHeld(owners)).toBe(0n);
  });

  it("gets a limit where it has none, and tells of it in the headers of a stream, too", async () => {
    const owners = await createCapped();
    const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 1 };
    const events = [textChunk("x"), finishChunk(), usageChunk(usage)];
    chat.upstream.answer({ kind: "events", events });
    const shrunk = await sendChat(owners, { stream: true });
    expect(shrunk.status).toBe(200);
    const maxTokens = shrunkTo(shrunk);
    expect(maxTokens).toBeGreaterThan(9_000);
    expect(chat.upstream.lastRequest.body).toMatchObject({
      max_tokens: maxTokens,
      max_completion_tokens: maxTokens,
    });
  });

  it("is told of by the request's checks and explained", async () => {
    const owners = await createCapped();
    answer();
    const shrunk = await sendChat(owners, { max_tokens: ASKED });
    const id = String(shrunk.headers["x-request-id"]);
    const figures = {
      requested_max_tokens: ASKED,
      max_tokens: shrunkTo(shrunk),
      scope: "group",
      period: "week",
    };
    const own = (await chat.send({ path: `/v1/requests/${id}`, method: "GET", key: owners.key })).json();
    expect(own["checks"]).toContainEqual({ name: "affordable_output", passed: true, figures });
    const told = await chat.stack.admin("GET", `${owners.paths.organization}/requests/${id}`);
    expect(told["explanation"]).toMatchObject({
      checks: expect.arrayContaining([
        expect.objectContaining({
          name: "affordable output",
          text: expect.stringMatching(
            /^shortened from 30,000 to 9,\d{3} tokens, .* the group's weekly hard cap/,
          ),
        }),
      ]),
    });
    // What is hidden of the cap stays away here as well.
    await chat.stack.admin("PATCH", owners.paths.organization, { hide_amounts: true });
    const hidden = (await chat.send({ path: `/v1/requests/${id}`, method: "GET", key: owners.key })).json();
    const withoutFigures = { scope: "group", period: "week" };
    expect(hidden["checks"]).toContainEqual({
      name: "affordable_output",
      passed: true,
      figures: withoutFigures,
    });
  });

  it("says nothing of its length where that would tell a hidden amount", async () => {
    const owners = await createCapped({ hideAmounts: true });
    answer();
    const shrunk = await sendChat(owners, { max_tokens: ASKED });
    expect(shrunk.status).toBe(200);
    expect(shrunk.headers).not.toHaveProperty("x-budget-max-tokens");
    await cap(chat, owners, [{ scope: "key", period: "day", cents: 5 }]);
    expect(shrunkTo(await sendChat(owners, { max_tokens: ASKED }))).toBeLessThan(5_000);
  });

  it.each([
    {
      path: MESSAGES_PATH,
      think: (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } }),
    },
    { path: CHAT_PATH, think: (max_tokens: number) => ({ reasoning: { max_tokens } }) },
    {
      path: CHAT_PATH,
      think: (thinking_budget: number) => ({ chat_template_kwargs: { thinking_budget } }),
    },
  ])("never goes with less than its thinking and 256 tokens more: $path $think", async ({ path, think }) => {
    const owners = await createCapped();
    answer();
    const send = (budget: number) => {
      const body = { model: CHAT, ...talk("hello"), max_tokens: ASKED, ...think(budget) };
      return chat.send({ path, key: owners.key, body });
    };
    const refused = await send(9_700);
    expect(refused.status).toBe(402);
    expect(readError(refused)["affordable_max_tokens"]).toBeGreaterThan(9_700);
    expect((await send(9_000)).status).toBe(200);
  });

  it("is refused where less than 256 tokens fit", async () => {
    const owners = await createCapped();
    await cap(chat, owners, [{ scope: "key", period: "day", cents: 0 }]);
    expect((await sendChat(owners)).status).toBe(402);
  });

  it("is refused beside others that have taken the room, and all of them stay under the cap", async () => {
    const owners = await createCapped();
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: CHAT_ROUTE.answer });
    const asked = [3_000, 3_000, ASKED, ASKED, ASKED].map((max_tokens) => sendChat(owners, { max_tokens }));
    const first = await Promise.race(asked);
    expect(first.status).toBe(402);
    expect(await readHeld(owners)).toBeLessThanOrEqual(10_000_000n);
    gate.release();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  });
});

describe("a request that fits", () => {
  it("is not touched", async () => {
    const owners = await createCapped();
    answer();
    const untouched = await sendChat(owners, { max_tokens: 5_000 });
    expect(untouched.headers).not.toHaveProperty("x-budget-max-tokens");
    expect(chat.upstream.lastRequest.body).toMatchObject({ max_tokens: 5_000 });
  });
});

describe("on_cap", () => {
  it.each([
    { organization: "shrink", key: null, status: 200 },
    { organization: "shrink", key: "refuse", status: 402 },
    { organization: "refuse", key: "shrink", status: 200 },
    { organization: "refuse", key: null, status: 402 },
  ] as const)(
    "$organization of the organization and $key of the key",
    async ({ organization, key, status }) => {
      const owners = await createCapped({ onCap: organization });
      await chat.stack.admin("PATCH", owners.paths.key, { on_cap: key });
      answer();
      expect((await sendChat(owners, { max_tokens: ASKED })).status).toBe(status);
    },
  );

  it("does nothing without strict caps", async () => {
    const owners = await createCapped({ strictCaps: false });
    answer();
    const passed = await sendChat(owners, { max_tokens: ASKED });
    expect(passed.headers).not.toHaveProperty("x-budget-max-tokens");
    expect(chat.upstream.lastRequest.body).toMatchObject({ max_tokens: ASKED });
  });
});
