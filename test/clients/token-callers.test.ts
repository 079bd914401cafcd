/** Agents and SDKs that have a token of an identity provider where they expect an API key. */
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { BOUND, withTokenStack } from "../envoy/tokens/token-stack.ts";
import { ensureClaudeCode, runClaude } from "../support/claude-code.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { createSigningKey } from "../support/token-issuer.ts";
import { sentMessages } from "./agent-requests.ts";
import { textStream } from "./chat-answers.ts";
import { CLIENTS } from "./clients.ts";
import { proves } from "./proofs.ts";

const claude = await ensureClaudeCode();
const NOTE = claude.missing === null ? "" : ` (skipped: ${claude.missing})`;
const tokens = withTokenStack({ workers: 2 }, async (corp) => {
  corp.keys.push(await createSigningKey("login.example.com-es", "ES256"));
});

describe.skipIf(claude.missing !== null)(`Claude Code with a token${NOTE}`, () => {
  proves(CLIENTS.claudeCode, "/v1/messages");

  const run = async (env: (token: string) => Record<string, string>, claims: object) => {
    const token = await tokens.corp.sign({ ...BOUND, sub: "coder", ...claims });
    const ended = await runClaude({
      program: claude.path ?? "",
      baseUrl: tokens.chat.stack.baseUrl,
      apiKey: "",
      model: CHAT_MODEL,
      prompt: "Say hello.",
      env: env(token),
    });
    onTestFinished(() => ended.cleanUp());
    return ended;
  };

  it.each([
    ["ANTHROPIC_API_KEY", (token: string) => ({ ANTHROPIC_API_KEY: token })],
    ["ANTHROPIC_AUTH_TOKEN", (token: string) => ({ ANTHROPIC_AUTH_TOKEN: token })],
  ])("works with it as %s, and is that user's", async (_name, env) => {
    tokens.chat.upstream.answer(textStream("Hello", " there."));
    const { result, exitCode } = await run(env, {});
    expect(result).toMatchObject({ is_error: false, result: "Hello there." });
    expect(exitCode).toBe(0);
    const request = tokens.chat.upstream.lastRequest;
    expect(sentMessages(request).length).toBeGreaterThan(1);
    expect(JSON.stringify(request.headers)).not.toContain("eyJ");
    const store = await tokens.chat.stack.store();
    const user = await store.findExternalUser(tokens.organizationId, {
      issuer: tokens.corp.issuer,
      subject: "coder",
    });
    await expect
      .poll(async () =>
        (
          await store.listKeys(tokens.organizationId, { limit: 9, after: null }, { userId: user?.id ?? "" })
        ).items.map(({ name }) => name),
      )
      .toEqual(["jwt:corp"]);
  });

  it("is told that it has expired", async () => {
    const { result } = await run((token) => ({ ANTHROPIC_AUTH_TOKEN: token }), { exp: 1 });
    expect(result).toMatchObject({ is_error: true });
    expect(String(result?.["result"])).toMatch(/has expired|401/u);
    expect(tokens.chat.upstream.requests).toEqual([]);
  });
});

describe("the OpenAI SDK with a token", () => {
  it.each(["RS256", "ES256"])("works with it as its API key, %s", async (algorithm) => {
    const key = tokens.corp.keys.find((one) => one.algorithm === algorithm);
    const apiKey = await tokens.corp.sign({ ...BOUND, sub: "sdk" }, key === undefined ? {} : { key });
    const header = Buffer.from(apiKey.split(".")[0] ?? "", "base64url").toString();
    expect(JSON.parse(header)).toMatchObject({ alg: algorithm });
    const baseURL = `${tokens.chat.stack.baseUrl}/v1`;
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    const answer = await client.chat.completions.create({
      model: CHAT_MODEL,
      messages: [{ role: "user", content: "hello" }],
    });
    expect(answer.choices[0]?.message.content).toBe("hello");
  });
});
