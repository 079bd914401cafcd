/** One of four workers dies, or stops without dying: who notices, how much is lost, and how it comes back. */
import { Agent } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { CHAT_UPSTREAM_MODEL, TRANSPORTS_UNDER_TEST } from "../support/gateway-config.ts";
import { readEvents } from "../support/http.ts";
import { runLoad } from "../support/running-load.ts";
import { waitFor, createGate } from "../support/wait.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import {
  findWorker,
  listWorkers,
  readEndpoints,
  waitForHealthyWorkers,
  waitForNewWorkers,
} from "./access/worker-processes.ts";

const WORKERS = 4;
const CONNECTIONS = 16;
/** So many that each worker has some, though each stream goes where its check went, without counting streams. */
const STREAMS = 48;
/** A worker that hangs is given up after ten seconds, on grpc-js after twenty: here the bound of a test that hangs. */
const GIVEN_UP = { timeoutMs: 60_000 };
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
afterAll(() => agent.destroy());

interface Load {
  /** "200", or what else came; a connection that was cut without an answer is "cut". */
  readonly outcomes: string[];
  stop(): Promise<void>;
}

const failuresOf = ({ outcomes }: Load): string[] => outcomes.filter((outcome) => outcome !== "200");

describe.each(TRANSPORTS_UNDER_TEST)("on the transport %s", (transport) => {
  const chat = withChatStack(() => ({ workers: WORKERS, overrides: { sidecar: { transport } } }));
  const sockets = () => join(chat.stack.dir, "run");

  /** Chat requests, one after the other on each connection. */
  function startLoad(): Load {
    const outcomes: string[] = [];
    const { stop } = runLoad(CONNECTIONS, async () => {
      const answer = await chat.send({ body: chatBody(), agent }).catch(() => null);
      outcomes.push(answer === null ? "cut" : describeAnswer(answer).slice(0, 200));
    });
    return { outcomes, stop };
  }

  /** What reached the upstream in a form that only an unprocessed request has. */
  function unprocessedRequests(): string[] {
    return chat.upstream.requests
      .filter(({ headers, body, path }) => {
        const leaks = headers.authorization ?? headers["x-api-key"] ?? headers["x-igw-admission"];
        return leaks !== undefined || body?.["model"] !== CHAT_UPSTREAM_MODEL || path !== CHAT_PATH;
      })
      .map(({ path, rawHeaders }) => `${path} ${rawHeaders.join(" ")}`);
  }

  /** Every worker gets calls while the load runs. */
  async function waitForWorkOnAll(): Promise<void> {
    const before = await readEndpoints(sockets());
    await waitFor("work on every worker", async () => {
      const now = await readEndpoints(sockets());
      return (
        now.length === WORKERS && now.every(({ calls }, index) => calls > (before[index]?.calls ?? 0) + 20)
      );
    });
  }

  afterEach(async () => {
    await waitForHealthyWorkers(sockets(), WORKERS);
  });

  describe("a worker that is killed under load", () => {
    it("loses at most the requests that it held, and takes work again", async () => {
      const load = startLoad();
      await waitForWorkOnAll();
      expect(failuresOf(load)).toEqual([]);
      const before = listWorkers(chat.stack.configFile);
      process.kill(findWorker(chat.stack.configFile, 1), "SIGKILL");
      await waitForNewWorkers(
        chat.stack.configFile,
        sockets(),
        before.filter(({ index }) => index === 1),
      );
      await waitForWorkOnAll();
      await waitFor("200 requests of the load", () => load.outcomes.length > 200);
      await load.stop();
      expect(failuresOf(load).length).toBeLessThanOrEqual(CONNECTIONS);
      expect(unprocessedRequests()).toEqual([]);
      const kept = before.filter(({ index }) => index !== 1);
      expect(listWorkers(chat.stack.configFile)).toEqual(expect.arrayContaining(kept));
    });

    it("leaves the streams of the others alone", async () => {
      const gate = createGate();
      chat.upstream.answer({
        kind: "events",
        events: [textChunk("one"), gate, textChunk(" two"), finishChunk()],
      });
      const begun = { count: 0 };
      const streams = Array.from({ length: STREAMS }, () =>
        chat.send({
          body: chatBody({ stream: true }),
          onData: (_chunk, soFar) => {
            if (soFar().length === _chunk.length) begun.count += 1;
          },
        }),
      );
      await waitFor("the first piece of each stream", () => begun.count === STREAMS);
      const held = (await readEndpoints(sockets())).map(({ active }) => active);
      const before = listWorkers(chat.stack.configFile);
      process.kill(findWorker(chat.stack.configFile, 2), "SIGKILL");
      await waitForNewWorkers(
        chat.stack.configFile,
        sockets(),
        before.filter(({ index }) => index === 2),
      );
      gate.release();
      const answers = await Promise.all(streams);
      const whole = answers.filter(
        (answer) => answer.complete && readEvents(answer.text).at(-1) === "[DONE]",
      );
      expect(held.every((count) => count > 0)).toBe(true);
      expect(whole).toHaveLength(STREAMS - (held[2] ?? 0));
      // A stream whose charge nobody could write down is cut, never ended as if it were whole.
      const others = answers.filter((answer) => !whole.includes(answer));
      expect(others.filter((answer) => answer.complete || answer.text.includes("[DONE]"))).toEqual([]);
    });

    it("is replaced again and again", async () => {
      const load = startLoad();
      for (const index of [0, 3, 0]) {
        const before = listWorkers(chat.stack.configFile);
        process.kill(findWorker(chat.stack.configFile, index), "SIGKILL");
        await waitForNewWorkers(
          chat.stack.configFile,
          sockets(),
          before.filter((one) => one.index === index),
        );
      }
      await waitForWorkOnAll();
      await load.stop();
      expect(failuresOf(load).length).toBeLessThanOrEqual(3 * CONNECTIONS);
      expect(unprocessedRequests()).toEqual([]);
    });
  });

  describe("a worker that stops without dying", () => {
    it("has its streams broken off, and the streams of others go on", async () => {
      const gate = createGate();
      chat.upstream.answer({ kind: "events", events: [textChunk("one"), gate, finishChunk()] });
      const begun = new Set<number>();
      const broken = new Set<number>();
      const streams = Array.from({ length: STREAMS }, async (_, index) => {
        const onData = (): void => void begun.add(index);
        const answer = await chat.send({ body: chatBody({ stream: true }), onData }).catch(() => null);
        const isWhole = answer?.complete === true && answer.text.endsWith("data: [DONE]\n\n");
        if (!isWhole) broken.add(index);
      });
      await waitFor("the first piece of each", () => begun.size === streams.length);
      const pid = findWorker(chat.stack.configFile, 2);
      // What the test before has left runs out by itself.
      await waitFor("nothing but streams", async () => {
        const now = await readEndpoints(sockets());
        return now.reduce((sum, { active }) => sum + active, 0) === streams.length;
      });
      const held = (await readEndpoints(sockets()))[2]?.active ?? 0;
      process.kill(pid, "SIGSTOP");
      try {
        // Each of Envoy's threads has a connection of its own, and gives it up by its own clock.
        await waitFor("its streams are broken off", () => broken.size === held, GIVEN_UP);
      } finally {
        process.kill(pid, "SIGCONT");
        gate.release();
      }
      await Promise.all(streams);
      expect([broken.size, held > 0]).toEqual([held, true]);
    });

    it("is passed over after its health checks fail, and nobody waits for as long as it hangs", async () => {
      const load = startLoad();
      await waitForWorkOnAll();
      const pid = findWorker(chat.stack.configFile, 2);
      const ofHanging = async () => (await readEndpoints(sockets()))[2];
      process.kill(pid, "SIGSTOP");
      try {
        await waitForHealthyWorkers(sockets(), WORKERS - 1);
        const answered = load.outcomes.length;
        await waitFor("answers without it", () => load.outcomes.length > answered + 100);
        const callsThen = (await ofHanging())?.calls ?? 0;
        await waitFor("its calls are given up", async () => (await ofHanging())?.active === 0, GIVEN_UP);
        expect(((await ofHanging())?.calls ?? 0) - callsThen).toBeLessThan(CONNECTIONS);
        // Resolves once each client has its answer.
        await load.stop();
      } finally {
        process.kill(pid, "SIGCONT");
      }
      expect(failuresOf(load).length).toBeLessThanOrEqual(3 * CONNECTIONS);
      await waitForHealthyWorkers(sockets(), WORKERS);
      const next = startLoad();
      await waitForWorkOnAll();
      await next.stop();
      expect(failuresOf(next)).toEqual([]);
      expect(unprocessedRequests()).toEqual([]);
    });
  });
});
