/**
 * The state of the key's bucket on answers that Envoy gives by itself when something breaks: behind an upstream's head, where
 * no filter before ext_proc sees the response, and when a worker ends.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { killAllWorkers } from "./access/worker-processes.ts";
import { startImpatientEnvoy } from "./edge/impatient-envoy.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { firstOnPush } from "../support/extent.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import type { SideEnvoy } from "../support/side-envoy.ts";
import { waitFor } from "../support/wait.ts";

const CHAT_FORM = {
  "x-ratelimit-limit-requests": "60",
  "x-ratelimit-reset-requests": expect.stringMatching(/^\d+(?:ms|s)$|^[\d.]+s$/) as string,
};
const MESSAGES_FORM = {
  "anthropic-ratelimit-requests-limit": "60",
  "anthropic-ratelimit-requests-reset": expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/) as string,
};
const MESSAGES_BODY = {
  model: chatBody()["model"],
  max_tokens: 9,
  messages: [{ role: "user", content: "hi" }],
};
const RESPONSES_BODY = { model: chatBody()["model"], input: "hi" };
const ROUTES = [
  {
    path: "/v1/chat/completions",
    body: chatBody(),
    form: CHAT_FORM,
    remaining: "x-ratelimit-remaining-requests",
  },
  {
    path: "/v1/responses",
    body: RESPONSES_BODY,
    form: CHAT_FORM,
    remaining: "x-ratelimit-remaining-requests",
  },
  {
    path: "/v1/messages",
    body: MESSAGES_BODY,
    form: MESSAGES_FORM,
    remaining: "anthropic-ratelimit-requests-remaining",
  },
] as const;

describe.each(firstOnPush([2, 1]))("with %i workers", (workers) => {
  const chat = withChatStack(() => ({ workers }));
  let impatient: SideEnvoy | undefined;

  beforeAll(async () => {
    impatient = await startImpatientEnvoy(chat.stack.dir);
  });
  afterAll(() => impatient?.stop());

  it.each(
    ROUTES.flatMap((route) =>
      (
        [
          { ending: "reset", status: 502 },
          { ending: "hang", status: 504 },
        ] as const
      ).map((end) => ({ ...route, ...end })),
    ),
  )("$path: an answer that ends in a $ending behind its head has it", async (row) => {
    const { path, body, form, remaining, ending, status } = row;
    const { key } = await chat.stack.createKey({ requestsPerMinute: 60 });
    const seen: HttpAnswer[] = [];
    for (const _ of [1, 2]) {
      chat.upstream.answer({
        kind: "bytes",
        headers: { "content-type": "application/json", "content-length": "1000" },
        pieces: ['{"id":"chatcmpl-1","object":"chat.completion",'],
        ending,
      });
      seen.push(await send(impatient!.baseUrl, { path, body, headers: { authorization: `Bearer ${key}` } }));
    }
    expect(seen.map((answer) => answer.status)).toEqual([status, status]);
    for (const { headers } of seen) expect(headers).toMatchObject(form);
    const lefts = seen.map(({ headers }) => [headers["x-service-ratelimit-remaining"], headers[remaining]]);
    const [first, second] = lefts.map(([left]) => Number(left));
    // A second brings one, and silence takes one.
    expect([first! >= 9, second! >= 8, second! <= first!]).toEqual([true, true, true]);
    expect(lefts.every(([left, named]) => left === named)).toBe(true);
  });

  it("has it when the worker ends, also of a request that has gone ahead of its admission", async () => {
    const { key } = await chat.stack.createKey({ requestsPerMinute: 6 });
    await chat.send({ key, body: chatBody() });
    chat.upstream.reset();
    chat.upstream.answer({ kind: "hang" });
    const lost = chat.send({ key, body: chatBody() });
    await chat.upstream.waitForRequests(1);
    await killAllWorkers(chat.stack.configFile, join(chat.stack.dir, "run"));
    const { status, headers } = await lost;
    expect([
      status,
      headers["x-service-ratelimit-remaining"],
      headers["x-ratelimit-remaining-requests"],
    ]).toEqual([503, "8", "8"]);
    chat.upstream.reset();
    await waitFor("a worker", async () => (await chat.send({ body: chatBody() })).status === 200);
  });

  it("has neither where no key was read", async () => {
    const { headers } = await send(chat.stack.baseUrl, {
      method: "POST",
      path: "/v1/chat/completions",
      headers: { host: "a,b" },
    });
    expect(headers["x-service-ratelimit-remaining"]).toBe("0");
    expect(
      Object.keys(headers).filter((name) => /-ratelimit-(?:limit|remaining|reset|requests)/.test(name)),
    ).toEqual(["x-service-ratelimit-remaining"]);
  });
});
