import { describe, expect, it } from "vitest";
import {
  mapErrorInAnswer,
  mapUpstreamError,
  parseRetryAfter,
  type UpstreamFailure,
} from "../../../../src/data-path/translation/upstream/map-error.ts";
import { isUpstreamError } from "../../../../src/data-path/translation/upstream/error-text.ts";

function map(status: number, body: unknown = "", changes: Partial<UpstreamFailure> = {}) {
  return mapUpstreamError({
    status,
    body: Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    retryAfter: null,
    startupSeconds: 40,
    model: "acme/chat",
    protocol: "chat",
    nowMs: Date.parse("Fri, 20 Nov 2026 12:00:00 GMT"),
    ...changes,
  });
}

describe("MiniMax's base_resp in an answer of status 200", () => {
  it.each([
    [1002, "rate limit", "model_overloaded"],
    [1004, "login fail", "upstream_authentication_failed"],
    [1008, "insufficient balance", "upstream_authentication_failed"],
    [2013, "invalid params", "invalid_parameter"],
    [1000, "unknown error", "upstream_error"],
  ])("is an error with the code %s: %s", (code, message, expected) => {
    const answer = { choices: null, base_resp: { status_code: code, status_msg: message } };
    expect(isUpstreamError(answer)).toBe(true);
    const error = mapErrorInAnswer(answer, { protocol: "chat", model: "acme/chat" });
    expect([error.code, `${error.message}${String(error.cause)}`]).toEqual([
      expected,
      expect.stringContaining(message),
    ]);
  });

  it.each([{ status_code: 0, status_msg: "success" }, { status_code: "0" }, {}, null])(
    "is none: %j",
    (base) => {
      expect(isUpstreamError({ choices: [], base_resp: base })).toBe(false);
    },
  );
});

describe("mapUpstreamError", () => {
  it.each([
    {
      name: "OpenAI",
      status: 400,
      body: { error: { message: "bad", param: "tools", code: "invalid_value" } },
      expected: { message: "bad", param: "tools", publicCode: "invalid_value" },
    },
    {
      name: "vLLM",
      status: 400,
      body: { error: { message: "bad", type: "BadRequestError", param: null, code: 400 } },
      expected: { message: "bad", param: null, publicCode: "invalid_parameter" },
    },
    {
      name: "old vLLM",
      status: 422,
      body: { object: "error", message: "bad", code: 400 },
      expected: { message: "bad", publicCode: "invalid_parameter" },
    },
    { name: "Ollama", status: 400, body: { error: "bad" }, expected: { message: "bad" } },
    {
      name: "FastAPI",
      status: 422,
      body: { detail: [{ loc: ["body", "messages", 0], msg: "Field required" }] },
      expected: { message: "messages.0: Field required" },
    },
    { name: "FastAPI with text", status: 400, body: { detail: "bad" }, expected: { message: "bad" } },
    {
      name: "plain text",
      status: 413,
      body: `  ${"x".repeat(600)}`,
      expected: { message: `${"x".repeat(499)}…` },
    },
    {
      name: "JSON that is cut in its message, and in a character",
      status: 400,
      body: Buffer.from(`{"error": {"code": 400, "message": "\\"${"x".repeat(3_000)}é`).subarray(0, -1),
      expected: { message: `"${"x".repeat(1_998)}…` },
    },
    {
      name: "JSON that is cut behind its message",
      status: 422,
      body: '{"detail":"temperature: too \\u0068ot","input":[1,2,3',
      expected: { message: "temperature: too hot" },
    },
    {
      name: "bytes that are no text",
      status: 400,
      body: Buffer.from([0x7b, 0xff, 0xfe, 0x80, 0x80]),
      expected: { message: "The server of acme/chat rejected the request without a reason." },
    },
    {
      name: "a web page",
      status: 413,
      body: "<html>nginx</html>",
      expected: { message: "The server of acme/chat rejected the request without a reason." },
    },
    {
      name: "nothing",
      status: 400,
      body: "",
      expected: { message: "The server of acme/chat rejected the request without a reason." },
    },
    {
      name: "an empty message",
      status: 400,
      body: { error: { message: "", code: "" } },
      expected: {
        message: "The server of acme/chat rejected the request without a reason.",
        publicCode: "invalid_parameter",
      },
    },
  ])("passes on what the upstream says of the request: $name", ({ status, body, expected }) => {
    const error = map(status, body);
    expect(error.status("chat")).toBe(400);
    expect(error).toMatchObject({ type: "invalid_request_error", ...expected });
  });

  it.each([
    { status: 429, code: "model_overloaded", retryAfterSeconds: 5 },
    { status: 529, code: "model_overloaded", retryAfterSeconds: 5 },
    { status: 503, code: "model_starting", retryAfterSeconds: 40 },
    { status: 408, code: "upstream_timeout", retryAfterSeconds: null },
    { status: 504, code: "upstream_timeout", retryAfterSeconds: null },
    { status: 401, code: "upstream_authentication_failed", retryAfterSeconds: null },
    { status: 403, code: "upstream_authentication_failed", retryAfterSeconds: null },
    { status: 402, code: "upstream_authentication_failed", retryAfterSeconds: null },
    { status: 404, code: "upstream_model_not_found", retryAfterSeconds: null },
    { status: 302, code: "upstream_error", retryAfterSeconds: null },
    { status: 500, code: "upstream_error", retryAfterSeconds: null },
    { status: 502, code: "upstream_error", retryAfterSeconds: null },
  ])("makes $status $code without the upstream's text", ({ status, code, retryAfterSeconds }) => {
    const error = map(status, { error: { message: "key sk-secret", code: "their_code", param: "p" } });
    expect(error).toMatchObject({ code, retryAfterSeconds, publicCode: code, param: null });
    expect(error.message).not.toContain("secret");
    expect((error.cause as Error).message).toContain("key sk-secret");
  });

  it.each([
    { status: 401, message: "bad upstream-credential-4f8b2c6d" },
    { status: 403, message: "abcdefghijklmnopqrstuvwxyz may not" },
    { status: 500, message: "no such key: Bearer sk.proj_4f8b2c6d" },
    { status: 429, message: "the token AbCdEfGh1234 is over its quota" },
  ])("keeps of $status $message no word that can be the credential", ({ status, message }) => {
    const cause = (map(status, { error: { message } }).cause as Error).message;
    expect(cause).toContain("[redacted]");
    expect(cause).not.toMatch(/4f8b2c6d|abcdefg|AbCd/);
  });

  it.each([
    {
      name: "Anthropic's balance",
      status: 400,
      error: {
        type: "invalid_request_error",
        message:
          "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
      },
    },
    {
      name: "Anthropic's limit of spend",
      status: 400,
      error: { type: "invalid_request_error", message: "You have reached your specified API usage limits." },
    },
    {
      name: "Anthropic's organization",
      status: 400,
      error: { type: "invalid_request_error", message: "This organization has been disabled." },
    },
    {
      name: "a type",
      status: 400,
      error: { type: "billing_error", message: "See your account." },
    },
    {
      name: "a code",
      status: 400,
      error: { code: "billing_hard_limit_reached", message: "Limit reached." },
    },
    {
      name: "Google",
      status: 400,
      error: {
        code: 400,
        message: "API key not valid. Please pass a valid API key.",
        status: "INVALID_ARGUMENT",
      },
    },
    {
      name: "xAI",
      status: 400,
      error: "Incorrect API key provided: xa***bc. You can obtain an API key from https://console.x.ai.",
    },
    {
      name: "AWS",
      status: 400,
      error: { message: "The security token included in the request is invalid." },
    },
    {
      name: "a server error",
      status: 500,
      error: { type: "authentication_error", message: "key sk-secret" },
    },
  ])("tells nothing of the gateway's own account, whatever its status: $name", ({ status, error }) => {
    for (const protocol of ["chat", "messages", "responses"] as const) {
      const told = map(status, { error }, { protocol });
      expect(told).toMatchObject({ code: "upstream_authentication_failed", param: null });
      expect(told.status(protocol)).toBe(502);
      const words = typeof error === "string" ? error : error.message;
      expect(told.message).not.toContain(words);
      expect((told.cause as Error).message).toContain(words);
    }
  });

  it.each([
    "messages.0: the field `billing` is not known",
    "tools.0.name: 'get_api_key' is longer than 64 characters",
    `messages.3: Input should be a valid string, found: ${" ".repeat(300)}your credit balance is too low`,
  ])("passes on what only sounds like it: %s", (message) => {
    expect(map(400, { error: { message } })).toMatchObject({ code: "invalid_parameter", message });
  });

  it.each([
    { status: 429, retryAfter: "12", expected: 12 },
    { status: 429, retryAfter: "0", expected: 1 },
    { status: 429, retryAfter: "900", expected: 59 },
    { status: 429, retryAfter: "-3", expected: 5 },
    { status: 429, retryAfter: "soon", expected: 5 },
    { status: 503, retryAfter: "2.2", expected: 3 },
    { status: 503, retryAfter: "Fri, 20 Nov 2026 12:00:07 GMT", expected: 7 },
    { status: 503, retryAfter: "Fri, 20 Nov 2026 11:00:00 GMT", expected: 1 },
    { status: 503, retryAfter: "Fri, nonsense", expected: 40 },
  ])("holds the upstream's Retry-After of $retryAfter to $expected", ({ status, retryAfter, expected }) => {
    expect(map(status, "", { retryAfter }).retryAfterSeconds).toBe(expected);
  });

  it.each([
    {
      name: "OpenAI",
      message:
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
      expected: "8000 + 1000 > 8192",
    },
    {
      name: "vLLM",
      message:
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 20 input tokens (4096 > 4096 - 20).",
      expected: "20 + 4096 > 4096",
    },
    {
      name: "SGLang",
      message:
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 30000 tokens from the input messages and 10000 tokens for the completion.",
      expected: "30000 + 10000 > 32768",
    },
  ])(
    "says an overflow of the context in Anthropic's words on the messages route: $name",
    ({ message, expected }) => {
      const error = map(400, { error: { message } }, { protocol: "messages" });
      expect(error.message).toBe(
        `input length and \`max_tokens\` exceed context limit: ${expected}, decrease input length or \`max_tokens\` and try again`,
      );
    },
  );

  it.each([
    {
      name: "SGLang",
      body: {
        error: {
          message: "The input (33000 tokens) is longer than the model's context length (32768 tokens).",
        },
      },
    },
    {
      name: "llama.cpp",
      body: { error: { message: "the request exceeds the available context size, try increasing it" } },
    },
    { name: "a code alone", body: { error: { message: "Too much.", code: "context_length_exceeded" } } },
  ])("says `prompt is too long` when the figures are not all there: $name", ({ body }) => {
    expect(map(400, body, { protocol: "messages" }).message).toBe(
      `prompt is too long: ${body.error.message}`,
    );
  });

  it.each(["chat", "completions", "responses", "messages"] as const)(
    "has the code of an overflow of the context on %s, whatever the upstream's is",
    (protocol) => {
      const message = "request (66202 tokens) exceeds the available context size (65536 tokens)";
      for (const status of [400, 403, 404, 413, 422, 429, 500, 502, 503, 504, 529]) {
        const error = map(status, { error: { message, code: status } }, { protocol });
        expect(error.status(protocol)).toBe(400);
        expect(error).toMatchObject({ publicCode: "context_length_exceeded" });
      }
    },
  );

  it("tells the client what of its request is not supported, also where the server calls it a 500", () => {
    const message = "image input is not supported - hint: you may need to provide the mmproj";
    expect(map(500, { error: { code: 500, message } })).toMatchObject({ code: "invalid_parameter", message });
    expect(map(500, { error: { message: "worker died, which is not a state that is supported" } }).code).toBe(
      "upstream_error",
    );
  });

  it.each([
    { status: 429, error: { type: "insufficient_quota", message: "You exceeded your current quota." } },
    { status: 429, error: { type: "exceeded_current_quota_error", message: "Your account is suspended." } },
    { status: 429, error: { message: "Insufficient Balance" } },
    {
      status: 402,
      error: { message: "This request requires more credits, or fewer max_tokens.", code: 402 },
    },
  ])("has $error.message of status $status as the operator's affair", (row) => {
    const error = map(row.status, { error: row.error });
    expect(error.code).toBe("upstream_authentication_failed");
    expect(error.message).not.toContain(row.error.message);
  });

  it.each([
    { message: { detail: [{ loc: ["body", "messages", 0], msg: "the reason" }] }, object: "error" },
    { detail: { error: "the reason" } },
    { detail: { message: "the reason" } },
    { code: 1210, msg: "the reason" },
    { error: ["the reason"] },
    { error: [{ message: "the reason" }] },
    [{ error: { code: 400, message: "the reason" } }],
    ...["the reason", '{"error":{"message":"the reason"}}', { error: { message: "the reason" } }].map(
      (raw) => ({
        error: { message: "Provider returned error", code: 400, metadata: { raw, provider_name: "x" } },
      }),
    ),
    { error: { message: '{"error":{"code":400,"message":"the reason"}}', code: 400 } },
    {
      error: {
        message: "Invalid.",
        details: [{ fieldViolations: [{ field: "a.b", description: "the reason" }] }],
      },
    },
    { success: false, errors: [{ code: 5007, message: "the reason" }], result: null },
    { errors: [{ message: "the reason" }] },
    { __type: "ValidationException", Message: "the reason" },
    { base_resp: { status_code: 2013, status_msg: "the reason" } },
    { error_code: 336_003, error_msg: "the reason" },
  ])("finds the reason wherever the server puts it: %j", (body) => {
    expect(map(400, body).message).toContain("the reason");
  });

  it("leaves the upstream's words alone on the chat route, and on other errors", () => {
    const message = "This model's maximum context length is 10 tokens.";
    expect(map(400, { error: { message } }).message).toBe(message);
    expect(map(400, { error: { message: "bad tool" } }, { protocol: "messages" }).message).toBe("bad tool");
  });
});

describe("parseRetryAfter", () => {
  it("gives null for no header", () => {
    expect(parseRetryAfter(null, 0)).toBeNull();
  });
});
