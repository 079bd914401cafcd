/** A process that hangs, in a slot that may kill it and in one that may not. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { ProcessSlot } from "../../../src/operation/supervisor/process-slot.ts";
import { waitFor } from "../../support/wait.ts";

/** Longer than this one may take to start, so that only the one that is stopped is silent. */
const BOUND_MS = 1_000;
const modulePath = join(mkdtempSync(join(tmpdir(), "slot-")), "process.mjs");
writeFileSync(
  modulePath,
  `process.send({ type: "ready" });
   setInterval(() => process.send({ type: "application", body: process.pid }), 20);
   process.on("message", () => process.exit(0));
   process.on("disconnect", () => process.exit(0));`,
);

const slots: ProcessSlot[] = [];
afterEach(() => slots.splice(0).forEach((slot) => slot.kill()));

async function start(silenceBoundMs: number | null) {
  const ends: string[] = [];
  const heard: unknown[] = [];
  const slot = new ProcessSlot(
    { name: "it", command: [], socket: null, execArgv: [], silenceBoundMs },
    { modulePath, args: [] },
    { readConfig: () => null, onMessage: (body) => heard.push(body), onRestart: ({ how }) => ends.push(how) },
    { firstMs: 1, maxMs: 1, soundAfterMs: 1 },
  );
  slots.push(slot);
  await slot.start();
  return { slot, ends, heard };
}

function stopProcess({ pid }: ProcessSlot): number {
  if (pid === null) throw new Error("no process");
  process.kill(pid, "SIGSTOP");
  return pid;
}

it("kills a process that sends nothing, and starts another", async () => {
  const { slot, ends, heard } = await start(BOUND_MS);
  await waitFor("messages", () => heard.length > 0);
  const hung = stopProcess(slot);
  await waitFor("another process", () => slot.pid !== hung && heard.includes(slot.pid), {
    timeoutMs: 30_000,
  });
  expect(ends[0]).toBe("killed, since it hung");
});

it("leaves a silent process alone in a slot without a bound, while one with a bound is replaced", async () => {
  const unbound = await start(null);
  const hung = stopProcess(unbound.slot);
  const bound = await start(BOUND_MS);
  const replaced = stopProcess(bound.slot);
  await waitFor("the other to be replaced", () => bound.slot.pid !== replaced, { timeoutMs: 30_000 });
  expect([unbound.slot.pid, unbound.ends]).toEqual([hung, []]);
});
