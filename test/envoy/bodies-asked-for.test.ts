/** An Envoy whose configuration is of before: bodies come for the asking, in another step than the request's headers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTENT_LENGTH_FILTER, PROCESSING_FILTER } from "../../src/envoy/bootstrap/filters.ts";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { loadConfig } from "../../src/config/load.ts";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { send } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { type EditableBootstrap, type SideEnvoy, startSideEnvoy } from "../support/side-envoy.ts";

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

function askForBodies({ manager }: EditableBootstrap): void {
  const { virtual_hosts: hosts } = manager["route_config"] as {
    virtual_hosts: { routes: { typed_per_filter_config?: Record<string, unknown> }[] }[];
  };
  const last = hosts[0]?.routes.at(-1);
  expect(Object.keys(last?.typed_per_filter_config ?? {})).toEqual([PROCESSING_FILTER]);
  delete last?.typed_per_filter_config;
  const filters = manager["http_filters"] as { name: string }[];
  manager["http_filters"] = filters.filter(({ name }) => name !== CONTENT_LENGTH_FILTER);
}

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
