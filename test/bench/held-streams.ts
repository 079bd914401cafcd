/** What open streams cost in memory: many of them at once, a chunk a second on each. */
import { Agent, type ClientRequest, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { waitFor } from "../support/wait.ts";
import type { BenchStack } from "./bench-stack.ts";
import { readRssMegabytes } from "./processes.ts";
import { BENCH_MODEL } from "./workloads.ts";

export interface HeldStreamsResult {
  readonly streams: number;
  readonly sidecarBeforeMegabytes: number;
  /** Once all streams have had their first chunk. */
  readonly sidecarOpenMegabytes: number;
  /** After `seconds` more of chunks on each of them. */
  readonly sidecarLaterMegabytes: number;
  readonly envoyLaterMegabytes: number;
  /** Streams that did not begin or ended by themselves, by status and error code or socket error. */
  readonly failures: Readonly<Record<string, number>>;
}

const OPENING_AT_ONCE = 16;

interface Counts {
  begun: number;
  ended: number;
  readonly failures: Record<string, number>;
}

/**
 * Opens `streams` streams through the gateway, keeps them for `seconds`, then closes them.
 * @param around What is done around the time in which they are kept.
 */
export async function measureHeldStreams(
  bench: BenchStack,
  streams: number,
  seconds: number,
  around: (hold: () => Promise<void>) => Promise<void> = (hold) => hold(),
): Promise<HeldStreamsResult> {
  const sidecar = bench.processes("gateway", "sidecar");
  const sidecarBeforeMegabytes = readRssMegabytes(sidecar);
  const counts: Counts = { begun: 0, ended: 0, failures: {} };
  const agent = new Agent({ maxSockets: streams });
  const open: ClientRequest[] = [];
  const waitForStreams = (count: number): Promise<boolean> =>
    waitFor(`${count} open streams`, () => counts.begun + counts.ended >= count, { timeoutMs: 60_000 });
  try {
    while (open.length < streams) {
      open.push(openStream(bench, agent, counts));
      // What is measured is open streams, not a rush of new ones.
      await waitForStreams(open.length - OPENING_AT_ONCE);
    }
    await waitForStreams(streams);
    const sidecarOpenMegabytes = readRssMegabytes(sidecar);
    await around(async () => await wait(seconds * 1000));
    return {
      streams,
      sidecarBeforeMegabytes,
      sidecarOpenMegabytes,
      sidecarLaterMegabytes: readRssMegabytes(sidecar),
      envoyLaterMegabytes: readRssMegabytes(bench.processes("gateway", "envoy")),
      failures: { ...counts.failures },
    };
  } finally {
    for (const one of open) one.destroy();
    agent.destroy();
  }
}

function openStream(bench: BenchStack, agent: Agent, counts: Counts): ClientRequest {
  const messages = [{ role: "user", content: "hold" }];
  const body = JSON.stringify({ model: BENCH_MODEL, stream: true, x_hold: true, messages });
  const sent = request(`${bench.stack.baseUrl}/v1/chat/completions`, {
    method: "POST",
    agent,
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      authorization: `Bearer ${bench.key}`,
    },
  });
  let reason = "cut before an answer";
  sent.on("response", (response) => {
    reason = `${response.statusCode} cut`;
    response.once("data", (chunk: Buffer) => {
      if (response.statusCode === 200) counts.begun += 1;
      else reason = `${response.statusCode} ${/"code":"(\w+)"/u.exec(chunk.toString())?.[1] ?? ""}`;
    });
    response.on("error", () => undefined);
  });
  sent.on("error", (error) => {
    reason = error.message;
  });
  sent.on("close", () => {
    counts.ended += 1;
    counts.failures[reason] = (counts.failures[reason] ?? 0) + 1;
  });
  sent.end(body);
  return sent;
}
