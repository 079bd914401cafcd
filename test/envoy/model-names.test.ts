import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import {
  catalogEntry,
  CHAT_MODEL,
  CHAT_UPSTREAM_MODEL,
  replaceConfigFile,
} from "../support/gateway-config.ts";
import { type HttpAnswer, readError, send as sendTo } from "../support/http.ts";
import { waitFor } from "../support/wait.ts";
import { messagesBody, MESSAGES_PATH, readRequest, readUsageTotals } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const ALIAS = "claude-haiku-4-5";
const OTHER_MODEL = "acme/other";
const EMBED_MODEL = "acme/embed";

const chat = withSharedChatStack([
  catalogEntry({ aliases: [ALIAS, "org/name:v1@latest+x"], capabilities: ["chat", "completions"] }),
  catalogEntry({ id: OTHER_MODEL, upstream_model: "other" }),
  catalogEntry({
    id: EMBED_MODEL,
    upstream_model: "embed",
    capabilities: ["embeddings"],
    aliases: ["ada"],
  }),
]);

const modelsIn = (text: string): string[] =>
  [...text.matchAll(/"model":"([^"]*)"/gu)].map(([, model = ""]) => model);

/** The log of requests. */
function readLines(): Record<string, unknown>[] {
  const dir = join(chat.stack.dir, "data/requests");
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names
    .flatMap((name) => readFileSync(join(dir, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("an alias of the catalog", () => {
  it.each([
    ["chat", CHAT_PATH, chatBody({ model: ALIAS })],
    ["chat's streams", CHAT_PATH, chatBody({ model: ALIAS, stream: true })],
    ["messages", MESSAGES_PATH, messagesBody({ model: ALIAS })],
    ["messages' streams", MESSAGES_PATH, messagesBody({ model: ALIAS, stream: true })],
    ["responses", "/v1/responses", { model: ALIAS, input: "hi" }],
    ["responses' streams", "/v1/responses", { model: ALIAS, input: "hi", stream: true }],
  ])("names the model in %s, and answers carry it", async (_name, path, body) => {
    const key = await chat.stack.createKey();
    const answer = await chat.send({ path, body, key: key.key });
    expect(answer.status).toBe(200);
    expect(new Set(modelsIn(answer.text))).toEqual(new Set([ALIAS]));
    expect(chat.upstream.lastRequest.body?.["model"]).toBe(CHAT_UPSTREAM_MODEL);
    expect((await readRequest(chat.stack, key, answer)).model).toBe(CHAT_MODEL);
    expect((await readUsageTotals(chat.stack, key)).requests).toBe(1);
    const { rows } = await (await chat.stack.store()).readUsage(key.organizationId, null);
    expect(new Set(rows.map(({ model }) => model))).toEqual(new Set([CHAT_MODEL]));
  });

  it("names it in embeddings, completions and counts of tokens too", async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    chat.upstream.answer({
      kind: "json",
      body: { model: "x", data: [], choices: [{ index: 0, text: "b" }], usage },
    });
    const answers: HttpAnswer[] = [
      await chat.send({ path: "/v1/embeddings", body: { model: "ada", input: "a" } }),
      await chat.send({ path: "/v1/completions", body: { model: ALIAS, prompt: "a" } }),
    ];
    expect(answers.map(({ text }) => modelsIn(text))).toEqual([["ada"], [ALIAS]]);
    const counted = await chat.send({
      path: "/v1/messages/count_tokens",
      body: messagesBody({ model: ALIAS }),
    });
    expect(counted.status).toBe(200);
  });

  it("goes by its target for what a key may use, and for strict caps", async () => {
    const denied = await chat.stack.createKey({ allowedModels: [OTHER_MODEL] });
    const allowed = await chat.stack.createKey({ allowedModels: [CHAT_MODEL] });
    const capped = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) }, { strictCaps: true });
    const send = (key: string) => chat.send({ key, body: chatBody({ model: ALIAS }) });
    expect(readError(await send(denied.key)).code).toBe("model_not_allowed");
    expect((await send(allowed.key)).status).toBe(200);
    expect((await send(capped.key)).status).toBe(402);
  });

  it("is listed when it is asked for, and found by itself, odd characters and all", async () => {
    const ids = async (path: string) =>
      (JSON.parse((await chat.send({ path })).text) as { data: { id: string }[] }).data.map(({ id }) => id);
    expect(await ids("/v1/models")).toEqual([CHAT_MODEL, OTHER_MODEL, EMBED_MODEL]);
    expect(await ids("/v1/models?include=aliases")).toContain(ALIAS);
    for (const name of [ALIAS, "org/name:v1@latest+x", encodeURIComponent("org/name:v1@latest+x")]) {
      const answer = await chat.send({ path: `/v1/models/${name}` });
      expect(answer.json()).toMatchObject({ id: decodeURIComponent(name), alias_of: CHAT_MODEL });
    }
  });

  it("is in the record of a request and in the request log beside the model's id, on a refusal too", async () => {
    const key = await chat.stack.createKey();
    const answer = await chat.send({ key: key.key, body: chatBody({ model: ALIAS }) });
    const refused = await chat.send({ key: key.key, body: chatBody({ model: "nobody-knows" }) });
    const lineOf = (of: HttpAnswer) =>
      waitFor("the line", () => {
        const id = String(of.headers["x-request-id"]);
        return readLines().find((line) => line["request_id"] === id);
      });
    const plain = await chat.send({ key: key.key, body: chatBody() });
    for (const [of, names] of [
      [answer, { model: CHAT_MODEL, requested_model: ALIAS }],
      [refused, { model: null, requested_model: "nobody-knows" }],
    ] as const) {
      expect(await lineOf(of)).toMatchObject(names);
      expect(await readRequest(chat.stack, key, of)).toMatchObject(names);
      const id = String(of.headers["x-request-id"]);
      const shown = await chat.stack.admin("GET", `/api/organizations/${key.organizationId}/requests/${id}`);
      expect(shown).toMatchObject(names);
    }
    expect(await lineOf(plain)).toMatchObject({ model: CHAT_MODEL, requested_model: CHAT_MODEL });
    expect(await readRequest(chat.stack, key, plain)).toMatchObject({
      model: CHAT_MODEL,
      requested_model: null,
    });
  });

  it("comes and goes with gateway.yaml under a running stack", async () => {
    const { configFile } = chat.stack;
    const write = (aliases: readonly string[]) => {
      const content = parse(readFileSync(configFile, "utf8")) as {
        catalog: { aliases?: readonly string[] }[];
      };
      const [, second] = content.catalog;
      if (second !== undefined) second.aliases = aliases;
      replaceConfigFile(configFile, content);
    };
    const isAnswered = (status: number) => async () => {
      const send = () => chat.send({ body: chatBody({ model: "fresh-name" }) });
      const answers = await Promise.all(Array.from({ length: 4 }, send));
      return answers.every((answer) => answer.status === status);
    };
    expect(await isAnswered(400)()).toBe(true);
    write(["fresh-name"]);
    await waitFor("the alias", isAnswered(200));
    expect(chat.upstream.lastRequest.body?.["model"]).toBe("other");
    // Refused whole: it would hide a model.
    write([CHAT_MODEL]);
    await waitFor("the refusal", async () => {
      const state = await chat.stack.admin("GET", "/api/configuration");
      return (state as { refused: unknown }).refused !== null;
    });
    expect(await isAnswered(200)()).toBe(true);
    write([]);
    await waitFor("the alias to be gone", isAnswered(400));
  });
});

describe("an organization's own names", () => {
  const setNames = (organizationId: string, names: object) =>
    chat.stack.admin("PATCH", `/api/organizations/${organizationId}`, { model_names: names });
  const send = (key: string, model: string, fields: object = {}) =>
    chat.send({ key, body: chatBody({ model, ...fields }) });

  it("mean what the organization says from the next request on, before an alias, for it alone", async () => {
    const [own, other] = [await chat.stack.createKey(), await chat.stack.createKey()];
    await setNames(own.organizationId, { aliases: { "gpt-4o-mini": OTHER_MODEL, [ALIAS]: OTHER_MODEL } });
    for (const stream of [false, true]) {
      const answer = await send(own.key, "gpt-4o-mini", { stream });
      expect([answer.status, ...new Set(modelsIn(answer.text))]).toEqual([200, "gpt-4o-mini"]);
      expect(chat.upstream.lastRequest.body?.["model"]).toBe("other");
      expect((await readRequest(chat.stack, own, answer)).model).toBe(OTHER_MODEL);
    }
    await send(own.key, ALIAS);
    expect(chat.upstream.lastRequest.body?.["model"]).toBe("other");
    expect((await send(other.key, "gpt-4o-mini")).status).toBe(400);
    await send(other.key, ALIAS);
    expect(chat.upstream.lastRequest.body?.["model"]).toBe(CHAT_UPSTREAM_MODEL);
    const listed = await chat.send({ path: "/v1/models?include=aliases", key: own.key });
    const { data } = JSON.parse(listed.text) as { data: { id: string; alias_of?: string }[] };
    const aliasOf = (name: string) => data.find(({ id }) => id === name)?.alias_of;
    expect([aliasOf("gpt-4o-mini"), aliasOf(ALIAS)]).toEqual([OTHER_MODEL, OTHER_MODEL]);
    await setNames(own.organizationId, { aliases: {} });
    expect((await send(own.key, "gpt-4o-mini")).status).toBe(400);
  });

  it("go by their target for what a key may use", async () => {
    const key = await chat.stack.createKey({ allowedModels: [CHAT_MODEL] });
    await setNames(key.organizationId, { aliases: { mine: OTHER_MODEL } });
    expect(readError(await send(key.key, "mine")).code).toBe("model_not_allowed");
  });

  it("have a default for every name that nobody knows, off unless set", async () => {
    const key = await chat.stack.createKey({ allowedModels: [OTHER_MODEL] });
    expect(readError(await send(key.key, "gpt-99")).code).toBe("model_not_found");
    await setNames(key.organizationId, { default_model: OTHER_MODEL });
    const answer = await send(key.key, "gpt-99");
    expect([answer.status, ...modelsIn(answer.text)]).toEqual([200, "gpt-99"]);
    const id = String(answer.headers["x-request-id"]);
    const line = await waitFor("the line", () => readLines().find((one) => one["request_id"] === id));
    expect(line).toMatchObject({ model: OTHER_MODEL, requested_model: "gpt-99" });
    await setNames(key.organizationId, { default_model: CHAT_MODEL });
    expect(readError(await send(key.key, "gpt-99")).code).toBe("model_not_allowed");
    await setNames(key.organizationId, { default_model: null });
    expect(readError(await send(key.key, "gpt-99")).code).toBe("model_not_found");
  });

  it("of the largest size that is allowed go with every request", async () => {
    const key = await chat.stack.createKey();
    const aliases = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`name-${"x".repeat(48)}-${index}`, OTHER_MODEL]),
    );
    await setNames(key.organizationId, { aliases });
    const [last = ""] = Object.keys(aliases).slice(-1);
    expect((await send(key.key, last)).status).toBe(200);
  });

  it.each([
    ["a model's id", { aliases: { [CHAT_MODEL]: OTHER_MODEL } }, "is the id of a catalog model"],
    ["an alias of an alias", { aliases: { mine: ALIAS } }, "unknown model"],
    ["an alias of itself", { aliases: { mine: "mine" } }, "unknown model"],
    ["a Cyrillic letter", { aliases: { "gpt-4\u043E": OTHER_MODEL } }, "expected a name"],
    ["an empty name", { aliases: { "": OTHER_MODEL } }, "expected a name"],
    ["a name of 129 characters", { aliases: { ["a".repeat(129)]: OTHER_MODEL } }, "expected a name"],
    [
      "101 names",
      {
        aliases: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`n${index}`, OTHER_MODEL])),
      },
      "at most 100 names",
    ],
    ["an alias as the default model", { default_model: ALIAS }, "unknown model"],
    ["an empty default model", { default_model: "" }, "expected a catalog id"],
  ])("are refused where they are no names of models: %s", async (_, names, message) => {
    const key = await chat.stack.createKey();
    const { adminUrl, adminToken } = chat.stack;
    const answer = await sendTo(adminUrl, {
      method: "PATCH",
      path: `/api/organizations/${key.organizationId}`,
      headers: { authorization: `Bearer ${adminToken}` },
      body: { model_names: names },
    });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(message);
  });
});
