/** An Envoy whose configuration is of before: bodies come for the asking, in another step than the request's headers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { loadConfig } from "../../src/config/load.ts";
import { describeAnswer } from "../support/answer-checks.ts";
import { askForBodies } from "../support/ask-for-bodies.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { send } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { type SideEnvoy, startSideEnvoy } from "../support/side-envoy.ts";

const chat = withChatStack();
let envoy: SideEnvoy;

beforeAll(async () => {
  envoy = await startSideEnvoy({
    bootstrap: renderBootstrap(loadConfig(chat.stack.configFile, { secrets: "none" })),
    dir: chat.stack.dir,
    name: "before",
    edit: askForBodies,
  });
});
afterAll(() => envoy.stop());

const post = (body: object) =>
  send(envoy.baseUrl, {
    path: CHAT_PATH,
    headers: { authorization: `Bearer ${chat.key.key}` },
    body,
    timeoutMs: 10_000,
  });

describe("an Envoy that sends bodies for the asking", () => {
  it("has requests answered and charged, and the upstream told the length of each", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("ok", null) });
    const answer = await post(chatBody());
    expect(describeAnswer(answer)).toBe("200");
    expect(answer.headers["x-request-cost"]).toMatch(/^0\.0\d+ USD$/);
    const { headers, bodyBytes } = chat.upstream.lastRequest;
    expect(Number(headers["content-length"])).toBe(bodyBytes.length);
  });

  it("has streams", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("ok", null) });
    const answer = await post(chatBody({ stream: true }));
    expect(describeAnswer(answer)).toBe("200");
    expect(answer.text).toMatch(/^data: [^]+data: \[DONE\]\n\n$/);
  });

  it("has what is wrong with a request told", async () => {
    const answer = await post(chatBody({ model: "acme/unknown" }));
    expect(describeAnswer(answer)).toMatch(/^400/);
  });
});
