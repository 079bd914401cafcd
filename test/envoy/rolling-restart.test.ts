/** A rolling restart of the sidecar behind one Envoy, under load and with streams open: nothing is rejected or cut. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Child } from "../support/child.ts";
import type { SideEnvoy } from "../support/side-envoy.ts";
import { createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { readGenerations, startEnvoyForBoth, startGeneration } from "./access/generations.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";
import { startSteadyLoad } from "./steady-load.ts";

const WORKERS = 2;
const STREAMS = 6;
const CLIENTS = 4;

let upstream: ScriptedUpstream;
let stack: ServeAlone;
let envoy: SideEnvoy;
let key: string;
let next: Child | null = null;

beforeAll(async () => {
  upstream = await startUpstream();
});
beforeEach(async () => {
  stack = await startServeAlone({ upstreamUrl: upstream.url, workers: WORKERS, drainSeconds: 30 });
  ({ key } = await createTestKey(stack.store));
  envoy = await startEnvoyForBoth(stack, WORKERS);
});
afterEach(async () => {
  upstream.reset();
  await next?.stop(15_000);
  next = null;
  await envoy.stop();
  await stack.stop();
});
afterAll(() => upstream.close());

/** Workers of both generations that Envoy sends requests to. */
async function healthyWorkers(): Promise<number> {
  const { first, next } = await readGenerations(stack);
  return first.healthy + next.healthy;
}

describe("a rolling restart of the sidecar", () => {
  it("loses no stream and refuses no request while one generation takes over from the other", async () => {
    await waitFor("the first generation", async () => (await healthyWorkers()) === WORKERS);
    const load = await startSteadyLoad({
      baseUrl: envoy.baseUrl,
      key,
      upstream,
      streams: STREAMS,
      clients: CLIENTS,
    });
    await waitFor("some answers of the first generation", () => load.count() > 20);

    ({ serve: next } = await startGeneration(stack));
    await waitFor("both generations", async () => (await healthyWorkers()) === 2 * WORKERS, {
      timeoutMs: 40_000,
    });
    stack.serve.signal("SIGTERM");
    await waitFor("the first generation to be passed over", async () => (await healthyWorkers()) === WORKERS);
    const taken = load.count();
    await waitFor("answers of the second generation", () => load.count() > taken + 20);
    expect(stack.serve.ended).toBeNull();

    expect(await load.finishStreams()).toBe(STREAMS);
    expect(await stack.serve.waitForEnd(20_000)).toBe(0);
    const afterEnd = load.count();
    await waitFor("answers without the first generation", () => load.count() > afterEnd + 20);
    expect(await load.stopClients()).toEqual(["200"]);
  });
});
