/** Only what a real Redis cannot play: calls that fail, hang or answer in an order of the test's choice. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { hashKey } from "../../../src/data-path/auth/key-format.ts";
import { createDeferred } from "../../../src/shared/event-loop/deferred.ts";
import {
  parseAwaitedHeader,
  readAwaitedId,
} from "../../../src/data-path/exchange/admission/admission-header.ts";
import type { CallState, Verdict } from "../../../src/data-path/exchange/admission/admit-request.ts";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import type { AdmitResult } from "../../../src/shared/stored/admission.ts";
import { ADMITTED, away, KEY, openAdmission, REACHED } from "./admit-request-fixture.ts";

const OF_NO_TOKENS = { owners: undefined, takenTokens: null };
const MODELS = { status: 200, headers: [], body: "{}" };

describe("createAdmitRequest", () => {
  it.each([
    { what: "has entered", isEntered: true },
    { what: "may still enter, late", isEntered: false },
  ])("gives up what Redis $what when the client has gone meanwhile", async ({ isEntered }) => {
    const admitted = createDeferred<AdmitResult>();
    const { send, seen } = openAdmission({ admit: () => admitted.promise });
    const asker = { isOver: false, onUnread: null };
    const verdict = send({}, asker);
    asker.isOver = true;
    admitted.resolve({ ...ADMITTED, isEntered });
    await verdict;
    expect(seen.left).toMatchObject([{ organizationId: "org_1", requestId: "req_1" }]);
  });

  it.each([
    { when: "once Redis has admitted it", staysOnWorker: false },
    { when: "ahead of Redis", staysOnWorker: true },
  ])("gives up a request whose verdict Envoy has not read, $when", async ({ staysOnWorker }) => {
    const { send, seen } = openAdmission({ staysOnWorker });
    const headers = { authorization: `Bearer ${KEY}`, "content-length": "10" };
    // The second request of a key may go ahead.
    await send({ headers });
    const asker: CallState = { isOver: false, onUnread: null };
    const verdict = await send({ headers }, asker);
    expect(verdict.kind === "admitted" && readAwaitedId(verdict.admissionHeader) !== null).toBe(
      staysOnWorker,
    );
    expect(seen.left).toEqual([]);
    asker.onUnread?.();
    await setImmediate();
    expect(seen.left).toMatchObject([{ requestId: "req_2" }]);
  });

  it("asks Redis once for each request, under an id of its own", async () => {
    const { send, seen } = openAdmission();
    const verdict = await send();
    await send();
    expect(verdict.kind).toBe("admitted");
    expect(seen.admits.map(({ requestId, presentedHash }) => [requestId, presentedHash])).toEqual([
      ["req_1", hashKey(KEY)],
      ["req_2", hashKey(KEY)],
    ]);
  });

  it("leaves Redis when it refuses for its headers what Redis has entered, and nothing that it admits", async () => {
    const { send, refusal, seen } = openAdmission();
    await send();
    expect(seen.left).toEqual([]);
    const headers = { authorization: `Bearer ${KEY}`, "x-tags": "no pair" };
    expect(await refusal({ headers })).toBe("400 invalid_parameter");
    expect(seen.left).toEqual([
      { organizationId: "org_1", keyId: "key_1", requestId: "req_2", ...OF_NO_TOKENS },
    ]);
  });

  it.each([
    { name: "the look-up fails", script: { lookUp: away }, admits: 0 },
    { name: "the admission fails", script: { admit: away }, admits: 1 },
  ])(
    "refuses with 503 when $name, asks no second time, and keeps the reason to the log",
    async ({ script, admits }) => {
      const { send, seen } = openAdmission(script);
      const verdict = await send();
      expect(verdict).toMatchObject({ kind: "refused", reply: { status: 503 } });
      expect(JSON.stringify(verdict)).not.toContain("secret.internal");
      expect(JSON.stringify(verdict)).toContain("gateway_unavailable");
      expect(seen.admits).toHaveLength(admits);
      expect(seen.logged).toMatchObject([{ err: { message: "Redis is unreachable: secret.internal" } }]);
    },
  );

  it.each([
    { name: "a list of models", request: { method: "GET", path: "/v1/models" } },
    { name: "a wrong method", request: { method: "PUT" } },
    {
      name: "a compressed body",
      request: { headers: { authorization: `Bearer ${KEY}`, "content-encoding": "gzip" } },
    },
  ])("asks for no caps and no slot for $name", async ({ request }) => {
    const { refusal, seen } = openAdmission({ admit: away });
    expect(await refusal(request)).toBe("503 gateway_unavailable");
    expect(seen.admits).toMatchObject([{ metered: false, promptTokens: 0 }]);
  });

  it.each([
    { name: "what it is asked for", answer: () => Promise.resolve(MODELS), told: [200, null], logged: 0 },
    {
      name: "a refusal",
      answer: () => Promise.reject(new GatewayError("request_not_found")),
      told: [404, "request_not_found"],
      logged: 0,
    },
    {
      name: "that Redis is unreachable",
      answer: () => Promise.reject(new GatewayError("gateway_unavailable", { cause: new Error("gone") })),
      told: [503, "gateway_unavailable"],
      logged: 1,
    },
  ])("answers an endpoint of its own by the head alone: $name", async ({ answer, told, logged }) => {
    const { send, seen } = openAdmission({ answer });
    const verdict = await send({ method: "GET", path: "/v1/models?limit=1" });
    const [status, errorCode] = told;
    expect(verdict).toMatchObject({
      kind: status === 200 ? "answered" : "refused",
      reply: { status },
      log: { keyId: "key_1", organizationId: "org_1", errorCode },
    });
    expect(seen.logged).toHaveLength(logged);
  });

  it("refuses by its head what says to be larger than a body may be, and leaves Redis", async () => {
    const { refusal, seen } = openAdmission();
    const headers = { authorization: `Bearer ${KEY}`, "content-length": "1000001" };
    expect(await refusal({ headers })).toBe("413 request_too_large");
    expect(seen.left).toHaveLength(1);
  });

  it("asks nobody about a key with a wrong checksum", async () => {
    const { refusal, seen } = openAdmission();
    const wrong = KEY.endsWith("0") ? `${KEY.slice(0, -1)}1` : `${KEY.slice(0, -1)}0`;
    expect(await refusal({ headers: { "x-api-key": wrong } })).toBe("401 invalid_api_key");
    expect([seen.lookUps, seen.admits]).toEqual([0, []]);
  });

  it("looks a key up again once its record has said that the key is no longer its own", async () => {
    const { refusal, seen } = openAdmission({
      admit: () => Promise.resolve({ decision: "unknown_key", timeMs: 0 }),
    });
    expect([await refusal(), await refusal()]).toEqual(["401 invalid_api_key", "401 invalid_api_key"]);
    expect(seen.lookUps).toBe(2);
  });

  it.each([
    { method: "GET", path: "/v1/chat/completions", refused: "405 method_not_allowed" },
    { method: "POST", path: "/v1/nothing", refused: "404 unknown_endpoint" },
    { method: "POST", path: "/v1/chat/completions/", refused: "404 unknown_endpoint" },
    { method: "POST", path: "/healthz", refused: "405 method_not_allowed" },
  ])("takes a token before it answers $method $path with $refused", async ({ method, path, refused }) => {
    const { refusal, seen } = openAdmission();
    expect(await refusal({ method, path })).toBe(refused);
    expect(seen.admits).toHaveLength(1);
  });

  it.each([
    { decision: "key_disabled", refused: "403 key_disabled" },
    { decision: "key_expired", refused: "403 key_expired" },
    { decision: "user_disabled", refused: "403 user_disabled" },
    { decision: "organization_suspended", refused: "403 organization_suspended" },
    { decision: "rate_limited", refused: "429 rate_limit_exceeded" },
    { decision: "concurrency_limited", refused: "429 concurrency_limit_exceeded" },
    { decision: "key_cap_reached", refused: "402 hard_cap_reached" },
    { decision: "organization_cap_reached", refused: "402 org_hard_cap_reached" },
  ] as const)("means $refused by $decision, whatever the endpoint", async ({ decision, refused }) => {
    const { refusal } = openAdmission({
      admit: () => Promise.resolve({ ...ADMITTED, reachedCap: REACHED, decision }),
    });
    expect(await refusal()).toBe(refused);
    expect(await refusal({ path: "/v1/nothing" })).toBe(refused);
  });

  it.each([
    { path: "/v1/messages", bucket: "requests", metered: true, promptTokens: 0 },
    { path: "/v1/messages/count_tokens?beta=true", bucket: "count_tokens", metered: false, promptTokens: 0 },
    { path: "/v1/chat/completions?a=b", bucket: "requests", metered: true, promptTokens: 0 },
    { path: "/v1/key", bucket: "requests", metered: false, promptTokens: 0 },
  ])("asks for the bucket of $bucket at $path", async ({ path, bucket, metered }) => {
    const { send, seen } = openAdmission();
    await send({ path });
    expect(seen.admits).toMatchObject([{ bucket, metered }]);
  });

  it.each([
    { isReady: true, status: 200 },
    { isReady: false, status: 503 },
  ])("answers readiness without a key, and takes no token ($status)", async ({ isReady, status }) => {
    const { send, seen, finished } = openAdmission({ isReady });
    const verdict = await send({ method: "GET", path: "/readyz", headers: {} });
    expect(verdict).toMatchObject({ kind: "answered", reply: { status } });
    expect(seen.admits).toEqual([]);
    expect(finished).toEqual([]);
  });

  it.each([
    { name: "without a key", headers: {}, refused: "401 missing_api_key", admits: 0 },
    {
      name: "with one",
      headers: { authorization: `Bearer ${KEY}` },
      refused: "405 method_not_allowed",
      admits: 1,
    },
  ])("tells readiness to no other method: $name", async ({ headers, refused, admits }) => {
    const { refusal, seen } = openAdmission();
    expect(await refusal({ method: "POST", path: "/readyz", headers })).toBe(refused);
    expect(seen.admits).toHaveLength(admits);
  });

  it("tells the end of what it refuses, once, with the id and the caller; of what goes on, nothing", async () => {
    const { send, finished } = openAdmission();
    await send();
    expect(finished).toEqual([]);
    await send({ method: "GET" });
    expect(finished).toMatchObject([
      {
        requestId: "req_2",
        route: "chat_completions",
        keyId: "key_1",
        status: 405,
        code: "method_not_allowed",
        settled: null,
      },
    ]);
  });

  it("shortens a route for the list of recent requests, and leaves its query out", async () => {
    const { send, seen } = openAdmission();
    await send({ path: `/v1/${"x".repeat(5_000)}?key=${KEY}` });
    expect(seen.admits[0]?.route).toHaveLength(200);
    await send({ path: `/v1/messages?key=${KEY}` });
    expect(seen.admits[1]?.route).toBe("POST /v1/messages");
  });

  describe("that comes back to the same worker, for a key whose last request was admitted", () => {
    const headers = { authorization: `Bearer ${KEY}`, "content-length": "100" };
    const admissionHeader = (verdict: Verdict) =>
      "admissionHeader" in verdict ? verdict.admissionHeader : "";

    it("lets a request pass before Redis has decided; ext_proc gets the decision, with what ext_authz could not say", async () => {
      let answer: (result: AdmitResult) => void = () => undefined;
      const answers = [Promise.resolve(ADMITTED), new Promise<AdmitResult>((resolve) => (answer = resolve))];
      const { send, deferred } = openAdmission({
        admit: () => answers.shift() ?? away(),
        staysOnWorker: true,
      });
      const first = await send({ headers });
      expect(admissionHeader(first)).toContain("|org_1|");
      const second = await send({ headers });
      expect(second).toEqual({
        kind: "admitted",
        admissionHeader: expect.stringMatching(/^awaited req_2 /) as string,
        requestId: "req_2",
        isDeferred: true,
        responseHeaders: [
          ["x-request-id", "req_2"],
          ["request-id", "req_2"],
        ],
        rateHeaders: expect.arrayContaining([["x-ratelimit-remaining-requests", "8"]]) as unknown,
      });
      const awaited = deferred.take("req_2");
      answer(ADMITTED);
      expect(await awaited?.decisionPromise).toMatchObject({
        kind: "admitted",
        admission: { identity: { requestId: "req_2" }, caller: { keyId: "key_1" }, rate: { remaining: 9 } },
      });
    });

    it.each([
      {
        name: "Redis refuses it",
        script: { decision: "key_cap_reached" as const, reachedCap: REACHED },
        code: "hard_cap_reached",
      },
      { name: "Redis does not answer", script: null, code: "gateway_unavailable" },
    ])("refuses it then where $name, and waits for the next one again", async ({ script, code }) => {
      const results = [ADMITTED, script === null ? null : { ...ADMITTED, ...script }];
      const admit = () => {
        const result = results.shift() ?? null;
        return result === null ? away() : Promise.resolve(result);
      };
      const { send, refusal, deferred, finished } = openAdmission({ admit, staysOnWorker: true });
      await send({ headers });
      expect((await send({ headers })).kind).toBe("admitted");
      const decision = await deferred.take("req_2")?.decisionPromise;
      expect(decision).toMatchObject({ kind: "refused", log: { errorCode: code } });
      expect(finished).toMatchObject([{ requestId: "req_2", code }]);
      expect(await refusal({ headers })).toBe("503 gateway_unavailable");
    });

    it("can be admitted again by its header: same id, same caller, same restrictions of its route", async () => {
      const { send, seen, admitAgain } = openAdmission({ staysOnWorker: true });
      await send({ headers });
      const verdict = await send({ headers, extensions: { allowed_models: "acme/small" } });
      const lost = parseAwaitedHeader(admissionHeader(verdict));
      const request = { method: "POST", path: "/v1/chat/completions", headers: { "content-length": "100" } };
      expect(await admitAgain(lost, request)).toMatchObject({
        kind: "admitted",
        admission: {
          identity: { requestId: "req_2" },
          caller: { organizationId: "org_1", models: ["acme/small"] },
        },
      });
      const [, first, second] = seen.admits;
      expect(second).toEqual(first);
    });

    it("leaves Redis when it refuses for its headers what Redis has entered", async () => {
      const { send, seen, deferred } = openAdmission({ staysOnWorker: true });
      await send({ headers });
      await send({ headers: { ...headers, "x-tags": "no pair" } });
      expect(await deferred.take("req_2")?.decisionPromise).toMatchObject({ reply: { status: 400 } });
      expect(seen.left).toEqual([
        { organizationId: "org_1", keyId: "key_1", requestId: "req_2", ...OF_NO_TOKENS },
      ]);
    });

    it.each([
      { name: "its length is not known", request: { headers: { authorization: `Bearer ${KEY}` } } },
      { name: "it goes to no upstream", request: { headers, method: "GET", path: "/v1/models" } },
      { name: "it is refused for its method anyway", request: { headers, method: "PUT" } },
      { name: "its body is compressed", request: { headers: { ...headers, "content-encoding": "gzip" } } },
      { name: "it is a count of tokens", request: { headers, path: "/v1/messages/count_tokens" } },
    ])("waits for Redis where $name", async ({ request }) => {
      const { send, deferred } = openAdmission({ staysOnWorker: true });
      await send({ headers });
      const verdict = await send(request);
      expect(admissionHeader(verdict)).not.toMatch(/^awaited/);
      expect(deferred.take("req_2")).toBeNull();
    });
  });
});
