/** What a client may not read in an upstream's error: names of the operator's account there. */
import { describe, expect, it } from "vitest";
import { mapUpstreamError } from "../../../../src/data-path/translation/upstream/map-error.ts";
import { redactAccount } from "../../../../src/data-path/translation/upstream/redact-account.ts";
import { encode } from "../../../support/messages-exchange.ts";
import { namedEvent, runNativeStream, createNativeAnswer } from "../../../support/native-exchange.ts";

const NAMES = [
  [
    "Content violates guidelines. Team: Acme One, API key ID: key-secret-1, Check: BIO",
    "Content violates guidelines. Check: BIO",
  ],
  ["no images for team acme", "no images for team [removed]"],
  ["no images for team Acme Research Labs today", "no images for team [removed] today"],
  ["no images for organization 'Acme One'", "no images for organization [removed]"],
  ["Organization org-AbC123xyz reached its limit", "Organization [removed] reached its limit"],
  ["organization acme has reached its limit", "organization [removed] has reached its limit"],
  [
    "This organization (550e8400-e29b-41d4-a716-446655440000) is limited",
    "This organization ([removed]) is limited",
  ],
  ["Acme Corp's organization is limited", "[removed] organization is limited"],
  ["the acme-prod project has no access", "the [removed] project has no access"],
  ["not for acme organization", "not for [removed] organization"],
  [
    "Project `proj_abc123` does not have access to model `m`",
    "Project `[removed]` does not have access to model `m`",
  ],
  ["API key ending in abcd is not allowed", "API key ending in [removed] is not allowed"],
  ["API key abcd1234 may not use tools", "API key [removed] may not use tools"],
  ["wrong key sk-proj-****abcd", "wrong key [removed]"],
  ["wrong key sk-ab...wxyz", "wrong key [removed]"],
  ["wrong key ****abcd", "wrong key [removed]"],
  [
    "no tools in projects/acme-1/locations/us/models/m",
    "no tools in projects/[removed]/locations/us/models/m",
  ],
  ["no tools at https://acme-eu.openai.azure.com/x", "no tools at https://[removed].openai.azure.com/x"],
  ["arn:aws:bedrock:us-east-1:123456789012:profile/x has no tools", "[removed] has no tools"],
  ["account 123456789012 has no tools", "account [removed] has no tools"],
  ["ask ops@acme.example", "ask [removed]"],
] as const;

/** Errors of requests, as servers word them. */
const OTHERS = [
  "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
  "Your organization must be verified to stream this model.",
  "Your API key does not support images",
  "Missing organization",
  "project: Field required",
  "Unknown key 'foo' in schema",
  "property 'user_1' must be a string",
  "Invalid schema for function 'get_account': 'x' is not valid",
  "No tool output found for function call call_abc123.",
  "File not found: file_abc",
  "Rate limit of the organization per minute",
  "the user input of a key question",
  "Please contact your account team for help",
];

describe("an upstream's error", () => {
  it.each(NAMES)("has no names of the account: %s", (message, told) => {
    expect(redactAccount(message)).toBe(told);
    expect(redactAccount({ error: { message, n: 1 }, list: [message] })).toEqual({
      error: { message: told, n: 1 },
      list: [told],
    });
  });

  it.each(OTHERS)("keeps its other words: %s", (message) => {
    expect(redactAccount(message)).toBe(message);
  });

  it.each([400, 403, 404, 413, 422])("has none at status %i, in message, code and param", (status) => {
    const message = "This model does not support images for organization acme-secret";
    const error = { message, code: "org-secret123", param: "team secret" };
    const failed = mapUpstreamError({
      status,
      body: encode({ error }),
      retryAfter: null,
      startupSeconds: 1,
      model: "acme/chat",
      protocol: "chat",
    });
    expect(failed.code).toBe("invalid_parameter");
    expect([failed.message, failed.publicCode, failed.param].join()).not.toContain("secret");
    expect(String(failed.cause)).toContain(status === 403 ? "organization" : "acme-secret");
  });

  it("has none in streams and bodies that pass through", () => {
    const message = "Limit of organization secret-1 (org-secret123) reached, key sk-***secret";
    const error = { type: "rate_limit_error", message };
    const failure = { code: "rate_limit_exceeded", message };
    const response = { id: "r", object: "response", status: "failed", error: failure, output: [] };
    const texts = [
      runNativeStream("messages", [namedEvent("error", { error })]).text,
      runNativeStream("responses", [namedEvent("error", { sequence_number: 0, ...failure })]).text,
      runNativeStream("responses", [namedEvent("error", { sequence_number: 0, error: failure })]).text,
      runNativeStream("responses", [namedEvent("response.failed", { sequence_number: 0, response })]).text,
      ...[false, true].map((stream) => {
        const { bytes } = createNativeAnswer("responses", { stream }).translateBody(encode(response));
        return Buffer.from(bytes).toString();
      }),
    ];
    for (const text of texts) {
      expect(text).toContain("Limit of organization [removed]");
      expect(text).toMatch(/rate_limit_e/);
      expect(text).not.toContain("secret");
    }
  });

  it("is searched in linear time", () => {
    for (const part of ["a", "team ", "A ", "Ab-", "a@", "x-", "for a ", "'", "*"]) {
      expect(redactAccount(part.repeat(1_000_000)).length).toBeLessThanOrEqual(2_100);
    }
  });
});
