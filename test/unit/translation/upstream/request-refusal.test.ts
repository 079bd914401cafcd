/** What an error of an upstream is about: the request, or the operator of the gateway. Its words decide. */
import { describe, expect, it } from "vitest";
import type { ProtocolName } from "../../../../src/data-path/translation/client-protocol.ts";
import {
  mapErrorInAnswer,
  mapUpstreamError,
} from "../../../../src/data-path/translation/upstream/map-error.ts";

function map(status: number, body: unknown, { protocol = "chat" }: { protocol?: ProtocolName } = {}) {
  const bytes = Buffer.from(JSON.stringify(body));
  return mapUpstreamError({
    status,
    body: bytes,
    retryAfter: null,
    startupSeconds: 40,
    model: "acme/chat",
    protocol,
  });
}

describe("an upstream's error", () => {
  it("knows an overflow and an affair of the account in the error of a server behind the server", () => {
    const wrap = (raw: unknown) => ({
      error: { message: "Provider returned error", code: 400, metadata: { raw } },
    });
    const overflow = JSON.stringify({
      error: { message: "prompt is too long: 210000 tokens > 200000 maximum" },
    });
    expect(map(400, wrap(overflow)).publicCode).toBe("context_length_exceeded");
    expect(map(502, wrap(overflow)).publicCode).toBe("context_length_exceeded");
    const account = { error: { type: "insufficient_quota", message: "key of the operator" } };
    expect(map(400, wrap(account)).code).toBe("upstream_authentication_failed");
  });

  it("takes an affair of the account at 503 for that, and a full server for no overflow", () => {
    const account = { error: { type: "insufficient_quota", message: "Insufficient balance" } };
    expect(map(503, account)).toMatchObject({ code: "upstream_authentication_failed" });
    const busy = { error: { message: "Too many input tokens in the queue, try again later" } };
    expect(map(503, busy).code).toBe("model_starting");
  });

  it.each([
    "余额不足",
    "Arrearage: make sure your account is in good standing",
    "Your credits are exhausted",
  ])("knows the operator's account by the words %s", (message) => {
    expect(map(503, { error: { message } }).code).toBe("upstream_authentication_failed");
  });

  it("tells a refusal of the content at 403 without the names of the account", () => {
    const error =
      "Content violates usage guidelines. Team: Acme One, API key ID: key-secret-1, Failed check: BIO";
    const body = { code: "The caller does not have permission to execute the specified operation", error };
    for (const protocol of ["chat", "messages", "responses", "completions"] as const) {
      const told = map(403, body, { protocol });
      expect(told).toMatchObject({
        code: "invalid_parameter",
        publicCode: "invalid_parameter",
        message: "Content violates usage guidelines. Failed check: BIO",
      });
    }
    for (const [words, told] of [
      ["for team 'acme-one'", "for team [removed]"],
      ["of organization acme-one", "of organization [removed]"],
      ["of ops@acme.example with xai-abc123", "of [removed] with [removed]"],
      ["for the user input of a key question", "for the user input of a key question"],
    ] as const) {
      const refused = map(403, { error: `Content violates usage guidelines ${words}` });
      expect(refused.message).toBe(`Content violates usage guidelines ${told}`);
    }
    const flagged = { error: { code: 403, message: 'Your input was flagged for "violence".' } };
    expect(map(403, flagged).status("chat")).toBe(400);
  });

  it.each([
    {
      status: 404,
      message: "No endpoints found that support tool use. To learn more, visit the documentation",
    },
    { status: 404, message: "No endpoints found that support the provided 'tool_choice' value." },
    { status: 404, message: "No endpoints found that support image input" },
    { status: 404, message: "File not found: file_abc" },
    { status: 403, message: "This model does not support tools." },
    { status: 404, message: "No endpoints found that can handle the requested parameters." },
    { status: 404, message: "Function calling is not enabled for this model" },
    { status: 404, message: "No tool output found for function call call_abc." },
    { status: 404, message: "Prompt with id 'p_1' not found." },
    { status: 403, message: "Input data may contain inappropriate content." },
    { status: 403, message: "Content Exists Risk" },
  ])("tells the client of $status $message, since it can leave that out", ({ status, message }) => {
    expect(map(status, { error: { message, code: status } })).toMatchObject({
      code: "invalid_parameter",
      message,
    });
  });

  it.each([
    { status: 404, message: "The model `x` does not exist or you do not have access to it." },
    { status: 404, message: "No endpoints found for some/model." },
    { status: 404, message: "No endpoints found matching your data policy" },
    {
      status: 404,
      message: "This is not a chat model and thus not supported in the v1/chat/completions endpoint.",
    },
    { status: 404, message: "" },
    { status: 403, message: "Request is prohibited by organization's policy" },
    { status: 403, message: "User is not authorized to perform: bedrock:ApplyGuardrail" },
    { status: 403, message: "" },
  ])("leaves $status $message the operator's affair", ({ status, message }) => {
    const code = status === 403 ? "upstream_authentication_failed" : "upstream_model_not_found";
    expect(map(status, { error: { message } })).toMatchObject({ code, publicCode: code });
  });

  it("is the same within an answer: an overflow, a refusal, an affair of the account", () => {
    const told = (error: object) =>
      mapErrorInAnswer({ error }, { protocol: "responses", model: "acme/chat" });
    const raw = '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}';
    expect(told({ code: 502, message: "Provider returned error", metadata: { raw } }).publicCode).toBe(
      "context_length_exceeded",
    );
    expect(told({ code: 403, message: "Flagged by moderation." }).code).toBe("invalid_parameter");
    expect(told({ code: 503, message: "Insufficient balance" }).code).toBe("upstream_authentication_failed");
    const balance = { base_resp: { status_code: 1008, status_msg: "insufficient balance" }, choices: null };
    expect(mapErrorInAnswer(balance, { protocol: "chat", model: "acme/chat" }).code).toBe(
      "upstream_authentication_failed",
    );
  });
});
