/** A model server that was never there is told apart from one that is gone for a while, by every worker of the host. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ErrorSummary, summarizeError } from "../support/answer-checks.ts";
import { findFreePort } from "../support/free-port.ts";
import { CHAT_MODEL, catalogEntry } from "../support/gateway-config.ts";
import type { HttpAnswer } from "../support/http.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { killAllWorkers, listWorkers } from "./access/worker-processes.ts";
import { summarizeMessagesError } from "./messages-checks.ts";

const WORKERS = 2;
const STARTUP_SECONDS = 17;
/** Enough for both workers to have their turn. */
const REQUESTS = 8;
const port = await findFreePort();

const stack = withStack(() => ({
  workers: WORKERS,
  upstreams: [{ name: "local", url: `http://127.0.0.1:${port}`, path_prefix: "/v1", protocols: ["chat"] }],
  catalog: [catalogEntry({ startup_seconds: STARTUP_SECONDS })],
}));
const servers: ScriptedUpstream[] = [];
let key = "";
beforeAll(async () => {
  // More requests than the demo key's bucket has tokens, where the machine is quick.
  key = (await stack().createKey()).key;
});
afterAll(async () => {
  for (const server of servers) await server.close();
});

const messages = [{ role: "user", content: "hello" }];
const ROUTES: readonly { path: string; body: object; summarize: (answer: HttpAnswer) => ErrorSummary }[] = [
  { path: "/v1/chat/completions", body: { messages }, summarize: summarizeError },
  { path: "/v1/messages", body: { messages, max_tokens: 10 }, summarize: summarizeMessagesError },
  { path: "/v1/responses", body: { input: "hello" }, summarize: summarizeError },
];

const send = (path: string, body: object) =>
  stack().send({ path, key, body: { model: CHAT_MODEL, ...body } });

/** What every route says, often enough that every worker has said it. */
async function readCodes(): Promise<Set<string | null>> {
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, () => ROUTES.map((route) => send(route.path, route.body))).flat(),
  );
  return new Set(answers.map((answer) => summarizeError(answer).code));
}

describe("a model's server that has never been reached", () => {
  it.each(ROUTES)(
    "is a 503 of its own on $path, with a time to come back",
    async ({ path, body, summarize }) => {
      for (const stream of [false, true]) {
        const answer = await send(path, { ...body, stream });
        expect(summarize(answer)).toMatchObject({
          status: 503,
          type: "api_error",
          code: "model_unreachable",
          message: expect.stringContaining("The model server can't be reached") as string,
          retryAfter: String(STARTUP_SECONDS),
          breaches: [],
        });
        expect(answer.headers["x-should-retry"]).toBe("true");
      }
    },
  );

  it("serves as soon as it is there, and is starting for every worker once it has been there", async () => {
    expect(await readCodes()).toEqual(new Set(["model_unreachable"]));
    const server = await startUpstream({ port });
    servers.push(server);
    expect((await send("/v1/chat/completions", { messages })).status).toBe(200);
    await server.close();
    await waitFor("every worker to have heard of it", async () => {
      expect(await readCodes()).toEqual(new Set(["model_starting"]));
      return true;
    });
  });

  it("is starting for workers that were themselves started after it had gone", async () => {
    const { configFile, dir } = stack();
    await killAllWorkers(configFile, `${dir}/run`);
    expect(listWorkers(configFile)).toHaveLength(WORKERS);
    expect(await readCodes()).toEqual(new Set(["model_starting"]));
  });
});
