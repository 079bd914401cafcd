import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDeferred } from "../../../src/shared/event-loop/deferred.ts";
import type { ChargeInput } from "../../../src/shared/stored/settlement.ts";
import type { Answer } from "../../../src/data-path/translation/client-protocol.ts";
import { NOTHING_YET, OK } from "./account-fixture.ts";
import { createOpenInput, createSettlement } from "./settlement-fixture.ts";

afterEach(() => void vi.useRealTimers());

/** When a stream that goes on and on is charged, in milliseconds since it went upstream. */
async function chargesOf(openedAfterMs: number, seconds: number): Promise<number[]> {
  const atMs: number[] = [];
  const charge = () => {
    atMs.push(performance.now());
    return Promise.resolve({ outcome: "applied" as const });
  };
  const { settlement } = createSettlement({ charge });
  settlement.start();
  await vi.advanceTimersByTimeAsync(openedAfterMs);
  const input = createOpenInput();
  const account = await settlement.open({ ...input, model: { ...input.model, maxOutputTokens: 10_000 } });
  const openedMs = performance.now();
  const seen = { ...NOTHING_YET };
  account.observe({ observation: seen } as Answer);
  for (let ms = 0; ms < seconds * 1_000; ms += 10) {
    seen.generatedDeltas += 1;
    seen.generatedBytes += 4;
    await vi.advanceTimersByTimeAsync(10);
  }
  const charged = atMs.map((ms) => ms - openedMs);
  await account.settle("complete", OK);
  await settlement.stop(1_000);
  return charged;
}

describe("a stream in flight", () => {
  beforeEach(() => void vi.useFakeTimers());

  it.each([0, 1, 100, 249, 250, 1_400])(
    "is charged 1.25 s after it went upstream and every 1.5 s at the latest, whenever it began (%d ms)",
    async (openedAfterMs) => {
      const charges = await chargesOf(openedAfterMs, 12);
      const waits = charges.map((ms, index) => ms - (charges[index - 1] ?? 0));
      expect(charges.length).toBeGreaterThanOrEqual(8);
      expect(waits[0]).toBeLessThanOrEqual(1_250);
      expect(Math.max(...waits)).toBeLessThanOrEqual(1_500);
      expect(Math.min(...waits.slice(1))).toBeGreaterThanOrEqual(1_250);
    },
  );
});

describe("a worker", () => {
  it("charges what has arrived while it had no turn in the turn that reads it", async () => {
    const { upstream, worker, close } = await connectUpstream();
    const seen = { ...NOTHING_YET };
    worker.on("data", ({ length }: Buffer) => {
      seen.generatedDeltas += length;
      seen.generatedBytes += length;
    });
    const charged: number[] = [];
    const isCharged = createDeferred<void>();
    const charge = () => {
      charged.push(seen.generatedDeltas);
      isCharged.resolve();
      return Promise.resolve({ outcome: "applied" as const });
    };
    const { settlement } = createSettlement({ charge });
    settlement.start();
    const account = await settlement.open(createOpenInput());
    account.observe({ observation: seen } as Answer);
    const isRead = once(worker, "data");
    upstream.write("a");
    await isRead;
    upstream.write("b".repeat(99));
    block(1_500);
    await isCharged.promise;
    expect(charged).toEqual([100]);
    await account.settle("complete", OK);
    await settlement.stop(1_000);
    close();
  });

  it("keeps no other request waiting for a charge that Redis does not answer", async () => {
    vi.useFakeTimers();
    const charged: string[] = [];
    const charge = ({ requestId }: ChargeInput) => {
      charged.push(requestId);
      const isLost = requestId === "req_lost" && charged.length < 4;
      return isLost ? new Promise<never>(() => undefined) : Promise.resolve({ outcome: "applied" as const });
    };
    const { settlement } = createSettlement({ charge });
    settlement.start();
    for (const requestId of ["req_lost", "req_other"]) {
      const account = await settlement.open(createOpenInput({ identity: { requestId } }));
      account.observe({ observation: { ...NOTHING_YET, generatedDeltas: 1, generatedBytes: 4 } } as Answer);
      await vi.advanceTimersByTimeAsync(500);
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(charged).toEqual(["req_lost", "req_other"]);
  });
});

/** Both ends of a connection of this process. */
async function connectUpstream(): Promise<{ upstream: Socket; worker: Socket; close: () => void }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection");
  const worker = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [upstream] = (await accepted) as [Socket];
  const close = (): void => {
    upstream.destroy();
    worker.destroy();
    server.close();
  };
  return { upstream, worker, close };
}

/** As a machine does that gives this process no turn. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
