import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import { textChunk, textCompletion } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { messagesBody, METERED_CATALOG, readSpend } from "./metering-figures.ts";

const chat = withSharedChatStack(METERED_CATALOG);
const COST = 6 * 250 + 4 * 25 + 5 * 1_000;

function answerWithUsage(): void {
  chat.upstream.answer({
    kind: "json",
    body: textCompletion("x", { promptTokens: 10, cachedTokens: 4, completionTokens: 5 }),
  });
}

type Tagged = { readonly tags?: string | readonly string[]; readonly body?: object; readonly path?: string };

function send(key: CreatedKey, { tags, body = chatBody(), path }: Tagged): Promise<HttpAnswer> {
  const headers = tags === undefined ? {} : { "x-tags": tags };
  return chat.send({ key: key.key, body, headers, ...(path === undefined ? {} : { path }) });
}

const pathOf = (key: CreatedKey, rest: string) => `/api/organizations/${key.organizationId}/${rest}`;

/** Value of the tag → microcents. */
async function readTag(key: CreatedKey, name: string): Promise<Record<string, unknown>> {
  const usage = await chat.stack.admin("GET", pathOf(key, `usage?group_by=tag:${name}`));
  const rows = usage["data"] as { tags: Record<string, string | null>; cost_microcents: number }[];
  return Object.fromEntries(rows.map((row) => [String(row.tags[name]), row.cost_microcents]));
}

async function readRequestTags(key: CreatedKey, answer: HttpAnswer): Promise<unknown> {
  const id = String(answer.headers["x-request-id"]);
  const found = await chat.stack.admin("GET", pathOf(key, `requests/${id}`));
  return found["tags"];
}

describe("tags", () => {
  it("are in the answer on a request, in the list, the log and the usage, and never at the upstream", async () => {
    const key = await chat.stack.createKey();
    answerWithUsage();
    const answer = await send(key, { tags: "team=search, feature=autocomplete" });
    const plain = await send(key, {});
    const tags = { feature: "autocomplete", team: "search" };
    expect(answer.status).toBe(200);
    for (const request of chat.upstream.requests) {
      expect(Object.keys(request.headers)).not.toContain("x-tags");
    }
    const id = String(answer.headers["x-request-id"]);
    const own = await chat.stack.send({ path: `/v1/requests/${id}`, key: key.key });
    expect(own.json()["tags"]).toEqual(tags);
    expect(await readRequestTags(key, answer)).toEqual(tags);
    const list = await chat.stack.admin("GET", pathOf(key, "requests"));
    const listed = (list["data"] as { id: string; tags: object }[]).map((each) => [each.id, each.tags]);
    expect(listed).toEqual([
      [plain.headers["x-request-id"], {}],
      [id, tags],
    ]);
    const line = await waitFor("the request's line", () =>
      readLines(key).find((each) => each["request_id"] === id),
    );
    expect(line).toMatchObject({ tags, tag_row: "own" });
    expect(await readTag(key, "team")).toEqual({ null: COST, search: COST });
    const filtered = await chat.stack.admin(
      "GET",
      pathOf(key, "usage?tag=team=search&group_by=model,tag:feature"),
    );
    expect(filtered).toMatchObject({
      tag_combinations: { kept: 1, most: 1000, has_other: false },
      data: [{ model: CHAT_MODEL, tags: { feature: "autocomplete" }, requests: 1, cost_microcents: COST }],
    });
    expect(JSON.stringify(await chat.stack.admin("GET", pathOf(key, "usage?tag=team=none")))).toContain(
      '"requests":0',
    );
  });

  it("are in no metric", async () => {
    const key = await chat.stack.createKey();
    answerWithUsage();
    await send(key, { tags: "team=unmistakable-value" });
    const answer = await fetch(new URL("/metrics", chat.stack.adminUrl), {
      headers: { authorization: `Bearer ${chat.stack.adminToken}` },
    });
    const page = await answer.text();
    expect([answer.status, page.includes("inference_gateway_"), page.includes("unmistakable-value")]).toEqual(
      [200, true, false],
    );
  });

  it.each([
    { route: "/v1/chat/completions", body: chatBody() },
    { route: "/v1/messages", body: messagesBody() },
    { route: "/v1/responses", body: { model: CHAT_MODEL, input: "hello" } },
  ])(
    "that are malformed are 400 in the envelope of $route, which says what is wrong",
    async ({ route, body }) => {
      const key = await chat.stack.createKey();
      const answer = await send(key, { tags: "team=search,Bad=1", body, path: route });
      const error = readError(answer);
      expect([answer.status, error.type, error.code]).toEqual([
        400,
        "invalid_request_error",
        "invalid_parameter",
      ]);
      expect(error.message).toMatch(/^`X-Tags`: expected a name .*; found "Bad"$/u);
      expect(answer.json()["type"]).toBe(route === "/v1/messages" ? "error" : undefined);
      expect(chat.upstream.requests).toEqual([]);
    },
  );

  it.each([
    ["a ninth tag", Array.from({ length: 9 }, (_, n) => `n${n}=1`).join(",")],
    ["a name twice", "team=a,team=b"],
    ["a name twice in two headers", ["team=a", "team=b"]],
    ["an equals sign in a value", "team=a=b"],
    ["a value without a name", "=a"],
    ["a value of 65 characters", `team=${"a".repeat(65)}`],
    ["a character that is not in the alphabet", "team=gr%C3%B6"],
    ["bytes beyond ASCII", "team=grö"],
    ["an empty header", ""],
    ["a list that ends in a comma", "team=a,"],
  ])("with %s are 400, and cost nothing", async (_what, tags) => {
    const key = await chat.stack.createKey();
    const answer = await send(key, { tags });
    expect([answer.status, readError(answer).code]).toEqual([400, "invalid_parameter"]);
    expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
  });

  it("are one list where the header is given several times, eight of the longest included", async () => {
    const key = await chat.stack.createKey();
    answerWithUsage();
    const tags = Array.from({ length: 8 }, (_, n) => `${`n${n}`.padEnd(64, "x")}=${"v".repeat(64)}`);
    const answer = await send(key, { tags });
    expect(answer.status).toBe(200);
    expect(await readRequestTags(key, answer)).toEqual(Object.fromEntries(tags.map((tag) => tag.split("="))));
  });

  it("of a key go with each of its requests, but where the header says another", async () => {
    const key = await chat.stack.createKey();
    const path = pathOf(key, `keys/${key.id}`);
    const changed = await chat.stack.admin("PATCH", path, { default_tags: "team=search,env=prod" });
    expect(changed["default_tags"]).toBe("env=prod,team=search");
    answerWithUsage();
    expect(await readRequestTags(key, await send(key, {}))).toEqual({ env: "prod", team: "search" });
    const other = await send(key, { tags: "team=ads" });
    expect(await readRequestTags(key, other)).toEqual({ env: "prod", team: "ads" });
    await chat.stack.admin("PATCH", path, { default_tags: null });
    expect(await readRequestTags(key, await send(key, {}))).toEqual({});
    expect(await readTag(key, "env")).toEqual({ null: COST, prod: 2 * COST });
  });

  it.each([
    { path: "/v1/chat/completions", body: chatBody({ user: "u-1" }), user: "u-1" },
    { path: "/v1/chat/completions", body: chatBody({ user: "u-1", safety_identifier: "s-1" }), user: "s-1" },
    { path: "/v1/messages", body: messagesBody({ metadata: { user_id: "u-2" }, user: "u-9" }), user: "u-2" },
    {
      path: "/v1/chat/completions",
      body: chatBody({ metadata: { user_id: "u-9" }, user: "u-4" }),
      user: "u-4",
    },
    { path: "/v1/responses", body: { model: CHAT_MODEL, input: "hello", user: "u-3" }, user: "u-3" },
    {
      path: "/v1/responses",
      body: { model: CHAT_MODEL, input: "hello", safety_identifier: "s-3" },
      user: "s-3",
    },
    {
      path: "/v1/chat/completions",
      body: chatBody({ user: "Bob, =1" }),
      user: expect.stringMatching(/^sha256:[0-9a-f]{32}$/u) as string,
    },
  ])(
    "name the end user of $path only where the organization wants it: $user",
    async ({ path, body, user }) => {
      const without = await chat.stack.createKey();
      const key = await chat.stack.createKey({}, { endUserTag: true });
      answerWithUsage();
      expect(await readRequestTags(without, await send(without, { path, body }))).toEqual({});
      expect(await readRequestTags(key, await send(key, { path, body }))).toEqual({ user });
      const own = await send(key, { path, body, tags: "user=mine" });
      expect(await readRequestTags(key, own)).toEqual({ user: "mine" });
    },
  );

  it("of a stream that its client leaves count with what it cost", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const headers = { "x-tags": "team=gone" };
    await chat.send({ key: key.key, headers, body: chatBody({ stream: true }), onData: () => "abort" });
    const costs = await waitFor("the charge", async () => {
      const read = await readTag(key, "team");
      return read["gone"] !== undefined && read;
    });
    const { organization } = await readSpend(chat.stack, key);
    expect([costs, organization > 0n]).toEqual([{ gone: Number(organization) }, true]);
  });

  it("add up to the spend when many come at the same time over two workers", async () => {
    const key = await chat.stack.createKey();
    answerWithUsage();
    const tags = ["team=a", "team=b", "team=a,feature=x", undefined];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const own = tags[n % tags.length];
        return send(key, own === undefined ? {} : { tags: own });
      }),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await readTag(key, "team")).toEqual({ a: 30 * COST, b: 15 * COST, null: 15 * COST });
    expect((await readSpend(chat.stack, key)).organization).toBe(BigInt(60 * COST));
  });
});

function readLines(key: CreatedKey): Record<string, unknown>[] {
  const dir = join(chat.stack.dir, "data/requests");
  return readdirSync(dir)
    .flatMap((name) => readFileSync(join(dir, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line["organization_id"] === key.organizationId);
}
