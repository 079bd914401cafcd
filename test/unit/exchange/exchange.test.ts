/** How an exchange ends when its upstream does not answer as it should: what the client is told, and what it costs. */
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import { Exchange } from "../../../src/data-path/exchange/exchange.ts";
import type {
  ResponseStart,
  RoutedCall,
  UpstreamResponse,
} from "../../../src/data-path/exchange/upstream/upstream-call.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";
import { createCatalogOf } from "../catalog/support.ts";
import {
  type AdmissionChanges,
  changeAdmission,
  createSettlement,
} from "../settlement/settlement-fixture.ts";
import { ADMISSION } from "./admission-fixture.ts";
import { CLIENT_LEFT, endsReportedAs } from "./ends-fixture.ts";
import { createRecordingMeter } from "./meter-fixture.ts";

const JSON_START: ResponseStart = {
  status: 200,
  contentType: "application/json",
  coding: null,
  retryAfter: undefined,
  codeDetails: "via_upstream",
  lostConnection: undefined,
  attempts: 1,
  endOfStream: false,
};
const RESET = "upstream_reset_before_response_started{connection_termination}";
const bytesOf = (body: object) => new TextEncoder().encode(JSON.stringify(body));

/** An exchange whose request was routed. */
async function route(reached = new Set<string>()) {
  const { exchange, ...rest } = create(reached);
  const { call } = await exchange.onRequestBody(
    bytesOf({ model: "acme/a", messages: [{ role: "user", content: "hi" }] }),
  );
  call.onSent();
  return { exchange, call, ...rest };
}

/** What the upstream answers, of the kind that is expected. */
function begin<Kind extends UpstreamResponse["kind"]>(call: RoutedCall, start: ResponseStart, kind: Kind) {
  const response = call.onResponseStart(start);
  if (!("kind" in response) || response.kind !== kind) throw new Error(`the response is not "${kind}"`);
  return response as Extract<UpstreamResponse, { kind: Kind }>;
}

function create(reached = new Set<string>(), admission: AdmissionChanges = {}, end = CLIENT_LEFT) {
  const catalog = createCatalogOf([{ id: "acme/a" }]);
  const { settlement, seen } = createSettlement();
  const { meter, finished } = createRecordingMeter();
  const warnings: object[] = [];
  const budget = new BodyBudget({ maxBodyBytes: 1_000, maxUpstreamBytes: 1_010, maxBufferedBytes: 1_000 });
  const exchange = new Exchange(
    { admission: changeAdmission(ADMISSION, admission), protocol: PROTOCOLS.chat },
    {
      catalog: () => catalog,
      protocols: PROTOCOLS,
      settlement,
      budget,
      reached: { has: (name) => reached.has(name), note: (name) => void reached.add(name) },
      ends: endsReportedAs(end),
      nowMs: () => 0,
      logger: { warn: (fields) => void warnings.push(fields) },
      meter,
    },
  );
  return { exchange, settlement, budget, seen, finished, warnings };
}

async function errorOf(answer: unknown): Promise<GatewayError> {
  const thrown: unknown = await Promise.resolve(answer).then(
    () => null,
    (error: unknown) => error,
  );
  if (thrown instanceof GatewayError) return thrown;
  throw new Error("no GatewayError was thrown", { cause: thrown });
}

it("refuses a request that is too large for its upstream by what it gains on its way, and records nothing", async () => {
  const { exchange, seen } = create();
  const bodyOf = (content: string) => ({
    model: "acme/a",
    stream: true,
    messages: [{ role: "user", content }],
  });
  const empty = JSON.stringify(bodyOf("")).length;
  // Every stream is asked for its usage.
  const error = await errorOf(exchange.onRequestBody(bytesOf(bodyOf("x".repeat(1_000 - empty)))));
  expect([error.code, error.message]).toEqual(["request_too_large", expect.stringContaining("at most 1010")]);
  expect(seen.opened).toEqual([]);
});

it("counts a body with all that is made of it until it goes upstream, and then what the answer depends on", async () => {
  const { exchange, budget } = create();
  const body = { model: "acme/a", user: "u".repeat(50), messages: [{ role: "user", content: "hi" }] };
  const routed = exchange.onRequestBody(bytesOf(body));
  // What came, its text, what was parsed of it, and what goes upstream.
  const times = budget.bufferedBytes / bytesOf(body).byteLength;
  expect([times > 3.5, times <= 4]).toEqual([true, true]);
  const { call } = await routed;
  expect(budget.bufferedBytes).toBe(2 * JSON.stringify(body.user).length);
  await call.onEnd();
  expect(budget.bufferedBytes).toBe(0);
});

it("counts a body that is not ASCII alone six times at most", async () => {
  const { exchange, budget } = create();
  const body = { model: "acme/a", messages: [{ role: "user", content: `${"x".repeat(400)}ü` }] };
  const routed = exchange.onRequestBody(bytesOf(body));
  const times = budget.bufferedBytes / bytesOf(body).byteLength;
  expect([times > 5, times <= 6]).toEqual([true, true]);
  const { call } = await routed;
  await call.onEnd();
});

it("counts nothing of a body that was refused, or whose client has left meanwhile", async () => {
  const refused = create();
  await errorOf(refused.exchange.onRequestBody(bytesOf({ model: "acme/none", messages: [] })));
  const left = create();
  const { call } = await left.exchange.onRequestBody(bytesOf({ model: "acme/a", user: "u", messages: [{}] }));
  await call.onEndUnsent();
  expect([refused.budget.bufferedBytes, left.budget.bufferedBytes]).toEqual([0, 0]);
});

describe("an exchange whose upstream does not answer as it should", () => {
  it.each([
    {
      name: "was not connected to",
      start: { status: 503, codeDetails: "no_healthy_upstream" },
      code: "model_unreachable",
      isFree: true,
    },
    {
      name: "timed out",
      start: { status: 504, codeDetails: "response_timeout" },
      code: "upstream_timeout",
      isFree: false,
    },
    {
      name: "answers with an event stream that was not asked for",
      start: { contentType: "text/event-stream" },
      code: "upstream_error",
      isFree: false,
    },
    {
      name: "answers in an encoding that is not read",
      start: { contentType: undefined, coding: "zstd" },
      code: "upstream_error",
      isFree: false,
    },
    { name: "answers without a body", start: { endOfStream: true }, code: "upstream_error", isFree: false },
    {
      name: "fails",
      start: { status: 500, endOfStream: true },
      code: "upstream_error",
      isFree: true,
    },
  ])("is settled once and refused with $code when it $name", async ({ start, code, isFree }) => {
    const { exchange, call, seen } = await route();
    const error = await errorOf(call.onResponseStart({ ...JSON_START, ...start }));
    expect(error.publicCode).toBe(code);
    exchange.onRefused(error);
    await exchange.onEndAnswered();
    expect(seen.charges.filter(({ final }) => final !== null)).toHaveLength(1);
    expect(exchange.settled?.costMicrocents === 0n).toBe(isFree);
  });

  it.each([
    { name: "an answer", start: {} },
    { name: "a connection that broke", start: { status: 503, codeDetails: RESET } },
  ])("is told as one that starts when it is gone after $name", async ({ start }) => {
    const reached = new Set<string>();
    const before = await route(reached);
    await errorOf(before.call.onResponseStart({ ...JSON_START, ...start })).catch(() => undefined);
    const { call } = await route(reached);
    const gone = { ...JSON_START, status: 503, codeDetails: "no_healthy_upstream" };
    expect((await errorOf(call.onResponseStart(gone))).code).toBe("model_starting");
  });

  it("passes on what the upstream says about the client's own request, and charges nothing", async () => {
    const { exchange, call, finished, warnings } = await route();
    const response = begin(call, { ...JSON_START, status: 400 }, "error");
    const body = bytesOf({ error: { message: "temperature: too hot", type: "invalid_request_error" } });
    const error = await errorOf(response.onBody(body));
    exchange.onRefused(error);
    expect([error.status("chat"), error.message]).toEqual([400, expect.stringContaining("too hot")]);
    expect(exchange.settled?.costMicrocents).toBe(0n);
    expect(finished).toMatchObject([{ status: 400 }]);
    expect(warnings).toHaveLength(1);
  });

  it.each([
    { status: 402, message: "Top up.", code: "upstream_authentication_failed" },
    { status: 404, message: "The model `echo` does not exist.", code: "upstream_model_not_found" },
    { status: 429, message: "You exceeded your current quota.", code: "upstream_authentication_failed" },
    { status: 429, message: "Slow down.", code: "model_overloaded" },
    { status: 500, message: "image input is not supported", code: "invalid_parameter" },
    { status: 503, message: "Loading model", code: "model_starting" },
  ])("reads why the upstream answers $status: $message", async ({ status, message, code }) => {
    const { call, warnings } = await route();
    const response = begin(call, { ...JSON_START, status }, "error");
    const error = await errorOf(response.onBody(bytesOf({ error: { message } })));
    expect(error.code).toBe(code);
    expect((error.cause as Error).message).toBe(`upstream status ${status}: ${message}`);
    expect(warnings).toHaveLength(1);
  });

  it("costs nothing when the client goes while an error is being read", async () => {
    const { exchange, call } = await route();
    await begin(call, { ...JSON_START, status: 429 }, "error").onEnd();
    expect(exchange.settled?.costMicrocents).toBe(0n);
  });

  it("tells the client of a body that cannot be read, and is settled once", async () => {
    const { exchange, call, seen } = await route();
    const response = begin(call, JSON_START, "whole");
    const error = await errorOf(response.onBody(new TextEncoder().encode("<html>")));
    expect(error.publicCode).toBe("upstream_error");
    await exchange.onEndAnswered();
    expect(seen.charges.filter(({ final }) => final !== null)).toHaveLength(1);
  });

  it.each([
    {
      name: "was not connected to",
      start: { status: 503, codeDetails: "no_healthy_upstream" },
      upstream: { status: null, cause: "no_healthy_upstream" },
      isAnswered: false,
    },
    {
      name: "fails",
      start: { status: 500, endOfStream: true },
      upstream: { status: 500, cause: null },
      isAnswered: true,
    },
  ])(
    "leaves on record how far it came and what its upstream did when it $name",
    async ({ start, upstream, isAnswered }) => {
      const { call, seen } = await route();
      await errorOf(call.onResponseStart({ ...JSON_START, ...start }));
      const trace = seen.charges.at(-1)?.final?.trace;
      expect(trace?.upstream).toMatchObject(upstream);
      const { bodyMs, routedMs, upstreamMs, firstTokenMs, endMs } = trace!.timeline!;
      expect(firstTokenMs).toBeNull();
      expect(upstreamMs !== null).toBe(isAnswered);
      const reached = [bodyMs, routedMs, upstreamMs, endMs].filter((at) => at !== null);
      expect(reached).toEqual(reached.toSorted((left, right) => left - right));
    },
  );
});

describe("an exchange whose admission entered it in Redis", () => {
  const isEntered = true;

  it.each([
    { why: "its client goes away before its body", body: null },
    { why: "its body is refused", body: { model: "acme/unknown", messages: [] } },
  ])("leaves it when $why", async ({ body }) => {
    const { exchange, settlement, seen } = create(new Set(), { limits: { isEntered } });
    if (body === null) {
      await exchange.onEnd();
    } else {
      exchange.onRefused(await errorOf(exchange.onRequestBody(bytesOf(body))));
      await exchange.onEndAnswered();
    }
    await settlement.stop(1_000);
    expect(seen.left).toMatchObject([{ requestId: ADMISSION.identity.requestId }]);
    expect(seen.charges).toEqual([]);
  });

  it("does not leave it when it goes upstream: its charge does that", async () => {
    const { exchange, settlement, seen } = create(new Set(), { limits: { isEntered } });
    const body = bytesOf({ model: "acme/a", messages: [{ role: "user", content: "hi" }] });
    const { call } = await exchange.onRequestBody(body);
    await call.onEnd();
    await settlement.stop(1_000);
    expect(seen.left).toEqual([]);
    expect(seen.charges).toHaveLength(1);
  });
});
