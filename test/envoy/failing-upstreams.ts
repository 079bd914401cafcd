/** Upstreams that fail before their answer has begun, and what a client is told on either route. */
import { expect } from "vitest";
import { type ChatStack, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { openaiError, type ScriptedAnswer } from "../support/scripted-answer.ts";

/** A model on whose upstream's port nobody listens; it takes 17 seconds to start. */
export const ABSENT_MODEL = "acme/absent";

/** A text of the upstream that only the log may have. */
export const SECRET_TEXT = "internal host gpu-7.cluster.local";

export const UNREACHABLE = { status: 503, type: "api_error", code: "model_unreachable" };
export const STARTING = { status: 503, type: "overloaded_error", code: "model_starting" };

export interface FailureRow {
  readonly name: string;
  readonly answer: ScriptedAnswer;
  /** Of the error's summary. */
  readonly expected: object;
}

/** The usual stack, and a model whose upstream is absent. */
export function withAbsentModel(): ChatStack {
  return withSharedChatStack([
    catalogEntry(),
    catalogEntry({ id: ABSENT_MODEL, upstream: "absent", startup_seconds: 17 }),
  ]);
}

export function failure(status: number, headers: Record<string, string> = {}): ScriptedAnswer {
  return { kind: "json", status, headers, body: openaiError(SECRET_TEXT) };
}

const TOO_HIGH = "temperature is too high";
const NO_IMAGES =
  "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";

function refusal(status: number, fields: object = {}): ScriptedAnswer {
  return { kind: "json", status, body: openaiError(TOO_HIGH, fields) };
}

/** An error whose body begins so, and goes on without an end. */
function endless(status: number, begin: string): ScriptedAnswer {
  const headers = { "content-type": "application/json" };
  return { kind: "bytes", status, headers, pieces: [begin], ending: "hang" };
}

function page(type: string): ScriptedAnswer {
  return { kind: "bytes", headers: { "content-type": type }, pieces: [`<html>${SECRET_TEXT}`] };
}

const INVALID = {
  status: 400,
  type: "invalid_request_error",
  message: expect.stringContaining(TOO_HIGH) as string,
};
export const BROKEN = { status: 502, type: "api_error", code: "upstream_error" };

/** @param overloadedStatus What an upstream's 429 becomes on the route: 503, or 529 where the protocol has it. */
export function createFailureRows(overloadedStatus: 503 | 529): readonly FailureRow[] {
  const overloaded = { status: overloadedStatus, type: "overloaded_error", code: "model_overloaded" };
  return [
    {
      name: "a 400 with code and param",
      answer: refusal(400, { code: "bad_range", param: "temperature" }),
      expected: { ...INVALID, code: "bad_range", param: "temperature" },
    },
    {
      name: "a 400 without a code",
      answer: refusal(400),
      expected: { ...INVALID, code: "invalid_parameter" },
    },
    {
      name: "a 400 with a number as code",
      answer: refusal(400, { code: 400 }),
      expected: { ...INVALID, code: "invalid_parameter" },
    },
    { name: "a 413", answer: refusal(413), expected: INVALID },
    { name: "a 422", answer: refusal(422), expected: INVALID },
    {
      name: "vLLM's 400",
      answer: {
        kind: "json",
        status: 400,
        body: { object: "error", message: TOO_HIGH, type: "BadRequestError", code: 400 },
      },
      expected: { ...INVALID, code: "invalid_parameter" },
    },
    {
      name: "Ollama's 400",
      answer: { kind: "json", status: 400, body: { error: TOO_HIGH } },
      expected: INVALID,
    },
    {
      name: "a 301",
      answer: failure(301, { location: "http://10.0.0.1/" }),
      expected: { status: 502, type: "api_error" },
    },
    {
      name: "a 500 that means the request",
      answer: { kind: "json", status: 500, body: openaiError(NO_IMAGES) },
      expected: { ...INVALID, message: expect.stringContaining(NO_IMAGES) as string },
    },
    {
      name: "a 422 in FastAPI's words",
      answer: { kind: "json", status: 422, body: { detail: [{ loc: ["body"], msg: TOO_HIGH }] } },
      expected: INVALID,
    },
    {
      name: "a 400 that repeats a whole input",
      answer: { kind: "json", status: 400, body: openaiError(`${TOO_HIGH}: ${"x".repeat(300_000)}`) },
      expected: INVALID,
    },
    {
      name: "a 400 whose body never ends",
      answer: endless(400, `{"error":{"message":"${TOO_HIGH}","type":"x"},"trace":"`),
      expected: INVALID,
    },
    {
      name: "a 401",
      answer: failure(401),
      expected: { ...BROKEN, code: "upstream_authentication_failed" },
    },
    {
      name: "a 402",
      answer: failure(402),
      expected: { ...BROKEN, code: "upstream_authentication_failed" },
    },
    { name: "a 403", answer: failure(403), expected: { status: 502, type: "api_error" } },
    { name: "a 404", answer: failure(404), expected: { ...BROKEN, code: "upstream_model_not_found" } },
    {
      name: "a 429 of an empty account",
      answer: { kind: "json", status: 429, body: openaiError(SECRET_TEXT, { code: "insufficient_quota" }) },
      expected: { ...BROKEN, code: "upstream_authentication_failed" },
    },
    {
      name: "a 429 of an empty account, whose body never ends",
      answer: endless(429, `{"error":{"message":"You exceeded your current quota (${SECRET_TEXT})`),
      expected: { ...BROKEN, code: "upstream_authentication_failed" },
    },
    { name: "a 503 whose body never ends", answer: endless(503, SECRET_TEXT), expected: STARTING },
    {
      name: "a 429 with Retry-After",
      answer: failure(429, { "retry-after": "7" }),
      expected: { ...overloaded, retryAfter: "7" },
    },
    {
      name: "a 429 with a long Retry-After",
      answer: failure(429, { "retry-after": "900" }),
      expected: { ...overloaded, retryAfter: "59" },
    },
    {
      name: "a 429 without Retry-After",
      answer: failure(429),
      expected: { ...overloaded, retryAfter: "5" },
    },
    { name: "a 529", answer: failure(529), expected: { ...overloaded, retryAfter: "5" } },
    { name: "a 500", answer: failure(500), expected: BROKEN },
    { name: "a 502", answer: failure(502), expected: BROKEN },
    {
      name: "a 503 with Retry-After",
      answer: failure(503, { "retry-after": "3" }),
      expected: { ...STARTING, retryAfter: "3" },
    },
    {
      name: "a 503 without Retry-After",
      answer: failure(503),
      expected: { ...STARTING, retryAfter: "10" },
    },
    ...createBrokenRows(),
  ];
}

/** Answers that are none. */
function createBrokenRows(): readonly FailureRow[] {
  const answers: readonly [name: string, answer: ScriptedAnswer][] = [
    ["a reset before the answer", { kind: "reset" }],
    ["an answer that is not JSON", page("application/json")],
    ["a page instead of an answer", page("text/html")],
    ["an empty answer", { kind: "bytes", headers: { "content-length": "0" }, pieces: [] }],
    ["an error with status 200", failure(200)],
  ];
  return answers.map(([name, answer]) => ({ name, answer, expected: BROKEN }));
}
