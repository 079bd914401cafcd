/** An identity provider whose keys cannot be had when Envoy starts, and later can. */
import { describe, expect, it } from "vitest";
import { chatBody } from "../../support/chat-stack.ts";
import { BOUND, withTokenStack } from "./token-stack.ts";

const NONSENSE = [
  (response: { end: (text: string) => void; statusCode: number }) => {
    response.statusCode = 500;
    response.end("no");
  },
  (response: { end: (text: string) => void }) => response.end("<html>Sign in</html>"),
  (response: { end: (text: string) => void }) => response.end('{"keys": []}'),
];

const tokens = withTokenStack({}, (corp) => {
  corp.onFetch = NONSENSE[0] ?? null;
});

describe("while the keys of a provider cannot be had", () => {
  it("its tokens are a 503 to be tried again, whatever it answers, and keys are as ever", async () => {
    const token = await tokens.corp.sign(BOUND);
    for (const answerWith of NONSENSE) {
      tokens.corp.onFetch = answerWith;
      await tokens.corp.waitForFetches(tokens.corp.fetches + 2);
      const answer = await tokens.bearer(token);
      expect(answer.status).toBe(503);
      expect(answer.headers["x-should-retry"]).toBe("true");
      expect(answer.json()).toMatchObject({ error: { code: "gateway_unavailable" } });
      expect((await tokens.chat.send({ body: chatBody() })).status).toBe(200);
    }
    tokens.corp.onFetch = null;
    await expect.poll(async () => (await tokens.bearer(token)).status, { timeout: 30_000 }).toBe(200);
    expect((await tokens.bearer(await tokens.other.sign())).status).toBe(403);
  });
});
