/** Alarms by what is done to Redis and to the spool's disk. */
import { execFileSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { listWorkers } from "../envoy/access/worker-processes.ts";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { parseMemory } from "../../src/data-path/store/memory.ts";
import { type FaultRedis, startFaultRedis } from "../faults/fault-redis.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { startRedisProxy, type RedisProxy } from "../support/redis-proxy.ts";
import { finishChunk, textChunk, usageChunk } from "../support/scripted-answer.ts";
import { createGate, type Gate } from "../support/wait.ts";
import { PROMETHEUS, SKIPPED_WHY } from "./find-prometheus.ts";
import { itFires, waitForAlarm, withPrometheus } from "./watched-stack.ts";

let redis: FaultRedis;
let proxy: RedisProxy;
const chat = withChatStack(async () => {
  redis = await startFaultRedis();
  proxy = await startRedisProxy(redis.url);
  return { overrides: { redis: { url: proxy.url } } };
});
const prometheus = withPrometheus(() => chat.stack);
afterAll(async () => {
  await proxy.close();
  await redis.stop();
});

/** Between requests: without one they would have a core for themselves. */
const PAUSE_MS = 20;

/** Requests one after the other, whatever they are answered, until it is told to stop. */
function startTraffic(): () => Promise<void> {
  const state = { isOver: false };
  const run = async (): Promise<void> => {
    while (!state.isOver) {
      await chat.send({ body: chatBody() }).catch(() => undefined);
      await wait(PAUSE_MS);
    }
  };
  const running = run();
  return async () => {
    state.isOver = true;
    await running;
  };
}
let stopTraffic: () => Promise<void> = async () => undefined;
afterEach(() => stopTraffic());

/** A request whose record is in Redis and whose answer waits behind a gate. */
async function openRequest(gate: Gate): Promise<{ ended: Promise<unknown> }> {
  const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 2 };
  const events = [textChunk("a"), gate, textChunk("b"), finishChunk(), usageChunk(usage)];
  chat.upstream.answerNext({ kind: "events", events });
  const before = chat.upstream.requests.length;
  const ended = chat.send({ body: chatBody({ stream: true }) }).catch((error: unknown) => error);
  await chat.upstream.waitForRequests(before + 1);
  return { ended };
}

const OUTAGE_ALARMS = [
  "GatewayRedisOutOfReach",
  "GatewayRedisErrors",
  "GatewaySpoolPending",
  "GatewaySpoolLoss",
  "GatewayUnacknowledgedCharges",
];
/** Those whose rule waits before it fires. */
const WAITING = OUTAGE_ALARMS.filter((alert) => alert !== "GatewaySpoolLoss");

/** From now on the worker's files may have so many bytes: a write past that fails, as on a full disk. */
function limitFiles(bytes: string): void {
  for (const { pid } of listWorkers(chat.stack.configFile)) {
    execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]);
  }
}

describe(`with a Redis that is slow${SKIPPED_WHY}`, () => {
  itFires(prometheus, {
    alert: "GatewayRedisSlow",
    when: "each of Redis's answers takes 100 ms",
    provoke: async () => {
      stopTraffic = startTraffic();
      proxy.delayMs = 100;
    },
    repair: async () => {
      proxy.delayMs = 0;
    },
  });
});

describe(`with a Redis that is nearly full${SKIPPED_WHY}`, () => {
  const setMaximum = (bytes: (used: number) => number) => async (): Promise<void> => {
    const client = createRedisClient({ url: redis.url, commandTimeoutMs: 5_000, onError: () => undefined });
    try {
      await waitUntilReady(client, 5_000);
      const { usedBytes } = parseMemory(await client.info("memory")) ?? { usedBytes: 0 };
      await client.config("SET", "maxmemory", String(Math.round(bytes(usedBytes))));
    } finally {
      client.disconnect();
    }
  };
  itFires(prometheus, {
    alert: "GatewayRedisMemory",
    when: "Redis uses 85 % of its memory",
    provoke: setMaximum((used) => used / 0.85),
    repair: setMaximum(() => 0),
  });
});

describe(`with a Redis that is gone${SKIPPED_WHY}`, () => {
  it.skipIf(PROMETHEUS === null)(
    `${OUTAGE_ALARMS.join(", ")} fire when Redis is killed and then the spool's disk takes nothing, and end when both are back`,
    async () => {
      const gate = createGate();
      const open = await openRequest(gate);
      await redis.kill();
      try {
        stopTraffic = startTraffic();
        await waitForAlarm(prometheus(), "GatewayRedisOutOfReach", "firing");
        await waitForAlarm(prometheus(), "GatewayRedisErrors", "firing");
        await waitForAlarm(prometheus(), "GatewaySpoolPending", "firing");
        await stopTraffic();
        limitFiles("1");
        gate.release();
        await waitForAlarm(prometheus(), "GatewayUnacknowledgedCharges", "firing");
        await waitForAlarm(prometheus(), "GatewaySpoolLoss", "firing");
        limitFiles("unlimited");
        await waitForAlarm(prometheus(), "GatewayUnacknowledgedCharges", "inactive");
        await waitForAlarm(prometheus(), "GatewaySpoolPending", "firing");
      } finally {
        gate.release();
        limitFiles("unlimited");
        await redis.restart();
      }
      await open.ended;
      for (const alert of OUTAGE_ALARMS) await waitForAlarm(prometheus(), alert, "inactive");
      for (const alert of WAITING) {
        expect({ alert, states: await prometheus().listStates(alert) }).toEqual({
          alert,
          states: ["firing", "pending"],
        });
      }
    },
    240_000,
  );
});
