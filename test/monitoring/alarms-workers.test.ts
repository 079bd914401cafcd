/** Alarms by what is done to the gateway's processes. */
import { afterAll, describe } from "vitest";
import { findWorker, waitForHealthyWorkers } from "../envoy/access/worker-processes.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { textChunk } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { SKIPPED_WHY } from "./find-prometheus.ts";
import { itFires, withPrometheus } from "./watched-stack.ts";

const WORKERS = 2;
const chat = withChatStack(() => ({ workers: WORKERS, isLauncherOwnProcess: true }));
/** A scrape waits up to a second for a worker that hangs; and three workers must have died in 15 "minutes". */
const prometheus = withPrometheus(() => chat.stack, { every: "2s", minuteMs: 1_000 });
const pidOf = (index: number): number => findWorker(chat.stack.configFile, index);
const healthy = () => waitForHealthyWorkers(`${chat.stack.dir}/run`, WORKERS);

/** Stops a process for most of the time, so that its timers are late by as much. */
function startPulses(pid: number): () => void {
  const timer = setInterval(() => {
    process.kill(pid, "SIGSTOP");
    setTimeout(() => process.kill(pid, "SIGCONT"), 400);
  }, 450);
  return () => {
    clearInterval(timer);
    process.kill(pid, "SIGCONT");
  };
}
let stopPulses: () => void = () => undefined;

describe(`with workers that are in trouble${SKIPPED_WHY}`, () => {
  const gate = createGate();
  afterAll(() => gate.release());

  itFires(prometheus, {
    alert: "GatewayRequestsReaped",
    when: "a worker dies with a request in flight, which another process closes",
    provoke: async () => {
      chat.upstream.answer({ kind: "events", events: [textChunk("a"), gate] });
      const send = () => chat.send({ body: chatBody({ stream: true }) }).catch(() => undefined);
      void Promise.all(Array.from({ length: 8 }, send));
      await chat.upstream.waitForRequests(8);
      for (let index = 0; index < WORKERS; index += 1) process.kill(pidOf(index), "SIGKILL");
      await healthy();
    },
    repair: healthy,
  });

  itFires(prometheus, {
    alert: "GatewayWorkerRestarts",
    when: "workers are killed three times in what stands for 15 minutes",
    provoke: async () => {
      for (let count = 0; count < 4; count += 1) {
        const pid = await waitFor("a worker", () => pidOf(count % WORKERS), { timeoutMs: 30_000 });
        process.kill(pid, "SIGKILL");
        await waitFor("its successor", () => pidOf(count % WORKERS) !== pid, { timeoutMs: 30_000 });
        await healthy();
      }
    },
    repair: healthy,
  });

  itFires(prometheus, {
    alert: "GatewayEventLoopLag",
    when: "a worker gets next to no time to run",
    provoke: async () => {
      stopPulses = startPulses(pidOf(0));
    },
    repair: async () => stopPulses(),
  });

  itFires(prometheus, {
    alert: "GatewayWorkerMissing",
    when: "a worker is there and hangs",
    provoke: async () => {
      process.kill(pidOf(1), "SIGSTOP");
    },
    repair: async () => {
      process.kill(pidOf(1), "SIGCONT");
      await healthy();
    },
  });

  itFires(prometheus, {
    alert: "GatewayDown",
    when: "the gateway has ended",
    provoke: async () => {
      gate.release();
      chat.stack.child.signal("SIGTERM");
      await chat.stack.child.waitForEnd(60_000);
    },
    repair: async () => undefined,
    isOver: false,
  });
});
