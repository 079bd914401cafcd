import { describe, expect, it } from "vitest";
import { listServedEndpoints } from "../../src/shared/contract/endpoints.ts";
import { describeAnswer, summarizeError } from "../support/answer-checks.ts";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";

const chat = withSharedChatStack([catalogEntry(), catalogEntry({ id: "acme/echo-large" })]);

describe("endpoints that need no key", () => {
  it.each([
    { method: "GET", path: "/" },
    { method: "HEAD", path: "/" },
    { method: "GET", path: "/healthz" },
    { method: "GET", path: "/readyz" },
    { method: "HEAD", path: "/api/hello" },
  ])("$method $path answers 200 with both ids and no bucket", async ({ method, path }) => {
    const answer = await chat.send({ key: null, method, path });
    expect(describeAnswer(answer)).toBe("200");
    expect(answer.headers["x-service-ratelimit-remaining"]).toBe("0");
  });

  it.each(["/", "/healthz", "/readyz", "/api/hello"])(
    "are there for GET and HEAD only: POST %s wants a key and is a 405",
    async (path) => {
      const without = await chat.send({ key: null, method: "POST", path, body: "{}" });
      expect(summarizeError(without)).toMatchObject({ status: 401, code: "missing_api_key", breaches: [] });
      const answer = await chat.send({ method: "POST", path, body: "{}" });
      expect(summarizeError(answer)).toMatchObject({ status: 405, code: "method_not_allowed", breaches: [] });
      expect(answer.headers.allow).toBe("GET, HEAD");
    },
  );

  it("names the service in JSON, with every endpoint that a key may ask", async () => {
    const answer = await chat.send({ key: null, path: "/" });
    expect(answer.headers["content-type"]).toMatch(/^application\/json/u);
    expect(answer.json()).toMatchObject({ object: "service", endpoints: listServedEndpoints() });
  });

  it("shows a page in a browser, without scripts, and JSON to programs that take anything", async () => {
    const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const page = await chat.send({ key: null, path: "/", headers });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", vary: "accept" });
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(page.text).toContain("<h1>Inference gateway</h1>");
    const program = await chat.send({ key: null, path: "/", headers: { accept: "*/*" } });
    expect(program.headers["content-type"]).toBe("application/json");
  });
});

describe("GET /v1/requests", () => {
  it("lists the key's own requests, newest first, page by page, and none of another key", async () => {
    const [own, other] = [await chat.stack.createKey(), await chat.stack.createKey()];
    const ask = async (key: string) =>
      String((await chat.send({ key, body: chatBody({ model: "acme/none" }) })).headers["x-request-id"]);
    const ids = [await ask(own.key), await ask(own.key)];
    await ask(other.key);
    const read = async (query: string) =>
      (await chat.send({ key: own.key, path: `/v1/requests${query}` })).json() as {
        data: { id: string; error_code: string }[];
        next: string | null;
      };
    const isListed = async () => (await read("")).data.length;
    await expect.poll(isListed).toBe(2);
    const { data, next } = await read("?limit=1");
    expect(data).toMatchObject([{ id: ids[1], error_code: "model_not_found" }]);
    expect((await read(`?limit=1&after=${next}`)).data).toMatchObject([{ id: ids[0] }]);
  });
});

describe("GET /v1/models", () => {
  it("lists the catalog in the OpenAI shape", async () => {
    const answer = await chat.send({ path: "/v1/models" });
    expect(describeAnswer(answer)).toBe("200");
    const { object, data } = answer.json() as { object: string; data: { id: string }[] };
    expect(object).toBe("list");
    expect(data.map((model) => model.id).sort()).toEqual(["acme/echo-large", CHAT_MODEL]);
    expect(data[0]).toMatchObject({
      object: "model",
      created: expect.any(Number) as number,
      owned_by: "acme",
    });
  });

  it("lists it in the Anthropic shape to a client that says anthropic-version", async () => {
    const answer = await chat.send({ path: "/v1/models", headers: { "anthropic-version": "2023-06-01" } });
    const body = answer.json() as { data: object[] };
    expect(body).toMatchObject({ has_more: false });
    expect(body.data).toContainEqual(expect.objectContaining({ type: "model", id: CHAT_MODEL }));
  });

  it.each([
    { name: "raw", path: "/v1/models/acme/echo-small" },
    { name: "as %2F", path: "/v1/models/acme%2Fecho-small" },
    { name: "as %2f", path: "/v1/models/acme%2fecho-small" },
  ])("finds one model with its slash $name", async ({ path }) => {
    const answer = await chat.send({ path });
    expect(describeAnswer(answer)).toBe("200");
    expect(answer.json()).toMatchObject({ id: CHAT_MODEL, object: "model" });
  });

  it("shows a key only the models that it may use", async () => {
    const { key } = await chat.stack.createKey({ allowedModels: [CHAT_MODEL] });
    const list = (await chat.send({ key, path: "/v1/models" })).json() as { data: { id: string }[] };
    expect(list.data.map((model) => model.id)).toEqual([CHAT_MODEL]);
    const other = await chat.send({ key, body: chatBody({ model: "acme/echo-large" }) });
    expect(summarizeError(other)).toMatchObject({
      status: 403,
      type: "permission_error",
      code: "model_not_allowed",
      breaches: [],
    });
  });

  it("does not know a model that is not there", async () => {
    const answer = await chat.send({ path: "/v1/models/acme/none" });
    expect(summarizeError(answer)).toMatchObject({ status: 404, type: "not_found_error", breaches: [] });
  });
});

describe("endpoints that are not there", () => {
  it.each(["/v1/nothing", "/v2/chat/completions", "/v1/chat/completions/", "/V1/chat/completions", "/admin"])(
    "GET %s is 404",
    async (path) => {
      expect(summarizeError(await chat.send({ path }))).toMatchObject({
        status: 404,
        type: "not_found_error",
        code: "unknown_endpoint",
        breaches: [],
      });
    },
  );

  it.each([
    {
      path: "/v1/images/generations",
      hint: "/v1/chat/completions`, `POST /v1/responses` or `POST /v1/messages",
    },
    { path: "/v1/complete", hint: "client.messages.create(" },
    { path: "/v1/completions/cmpl-1", hint: "doesn't store completions" },
    { path: "/embeddings", hint: "ends with `/v1`" },
  ])("POST $path says what to do instead", async ({ path, hint }) => {
    const answer = await chat.send({ path, body: chatBody() });
    expect(summarizeError(answer)).toMatchObject({ status: 404, code: "unknown_endpoint", breaches: [] });
    expect(answer.text).toContain(hint);
  });

  it.each([
    { method: "GET", path: "/v1/chat/completions", allow: /^POST$/u },
    { method: "DELETE", path: "/v1/chat/completions", allow: /^POST$/u },
    { method: "POST", path: "/v1/models", allow: /GET/u },
    { method: "PUT", path: "/v1/key", allow: /GET/u },
  ])("$method $path is 405 and says what is allowed", async ({ method, path, allow }) => {
    const answer = await chat.send({ method, path });
    expect(summarizeError(answer)).toMatchObject({
      status: 405,
      type: "invalid_request_error",
      code: "method_not_allowed",
      breaches: [],
    });
    expect(answer.headers.allow).toMatch(allow);
  });
});

describe("without a key", () => {
  it.each([
    "/v1/chat/completions",
    "//v1/chat/completions",
    "/v1//chat/completions",
    "/v1/./chat/completions",
    "/x/../v1/chat/completions",
    "/v1/chat%2Fcompletions",
    "/v1/chat/completions?x=/healthz",
    "/healthz/../v1/chat/completions",
    "/v1/nothing",
  ])("POST %s is refused and reaches no upstream", async (path) => {
    const answer = await chat.send({ key: null, path, body: chatBody() });
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/u);
    expect(summarizeError(answer)).toMatchObject({
      status: 401,
      type: "authentication_error",
      code: "missing_api_key",
      breaches: [],
    });
    expect(answer.headers["x-service-ratelimit-remaining"]).toBe("0");
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("a forged admission changes nothing", async () => {
    const headers = { "x-igw-admission": '{"requestId":"req_1"}', "x-igw-upstream": "local" };
    const answer = await chat.send({ key: null, body: chatBody(), headers });
    expect(summarizeError(answer)).toMatchObject({ status: 401, code: "missing_api_key", breaches: [] });
    expect(chat.upstream.requests).toHaveLength(0);
  });
});
