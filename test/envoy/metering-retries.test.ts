/** An operator has given Envoy a retry policy: what the client has once is charged once. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import type { ScriptedAnswer } from "../support/scripted-answer.ts";
import { type CreatedKey, createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";

const ROUTE = "cluster_header: x-igw-upstream\n";
const POLICY =
  'retry_policy: {retry_on: "5xx,reset", num_retries: 2, retry_back_off: {base_interval: 0.01s}}\n';

let upstream: ScriptedUpstream;
let stack: ServeAlone;
beforeAll(async () => {
  upstream = await startUpstream();
  stack = await startServeAlone({
    upstreamUrl: upstream.url,
    workers: 1,
    drainSeconds: 2,
    editBootstrap: (yaml) => {
      const indent = /\n( *)cluster_header: x-igw-upstream/.exec(yaml)?.[1] ?? "";
      const withPolicy = yaml.replace(ROUTE, `${ROUTE}${indent}${POLICY}`);
      return withPolicy.replaceAll("max_retries: 0", "max_retries: 3");
    },
  });
}, 120_000);
afterEach(() => upstream.reset());
afterAll(async () => {
  await stack.stop();
  await upstream.close();
});

const post = ({ key }: CreatedKey, stream: boolean): Promise<HttpAnswer> =>
  send(stack.baseUrl, {
    path: CHAT_PATH,
    headers: { authorization: `Bearer ${key}` },
    body: chatBody({ stream }),
  });

/** What the key has spent, once something is. */
const spent = ({ organizationId }: CreatedKey): Promise<bigint> =>
  waitFor("the charge", async () => {
    const { organizationMicrocents } = await stack.store.readSpend(organizationId, null);
    return organizationMicrocents > 0n && organizationMicrocents;
  });

describe("a request that Envoy sends upstream again", () => {
  const failures: readonly (readonly [string, ScriptedAnswer])[] = [
    ["a 503", { kind: "json", status: 503, body: { error: { message: "busy" } } }],
    ["a reset", { kind: "reset" }],
  ];
  it.each(
    failures.flatMap(([name, failure]) => [false, true].map((stream) => [name, stream, failure] as const)),
  )("after %s is charged once, stream: %s", async (_name, stream, failure) => {
    const plain = await createTestKey(stack.store);
    expect((await post(plain, stream)).status).toBe(200);
    const once = await spent(plain);
    upstream.reset();
    upstream.answerNext(failure, failure);
    const retried = await createTestKey(stack.store);
    const answer = await post(retried, stream);
    expect(answer.status).toBe(200);
    expect(upstream.requests).toHaveLength(3);
    expect(await spent(retried)).toBe(once);
    const { rows } = await stack.store.readUsage(retried.organizationId, null);
    expect(rows.map(({ requests, costMicrocents }) => [requests, costMicrocents])).toEqual([[1, once]]);
  });
});
