/** A server on the transport `wire` alone, without Envoy, that echoes what a test asks. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createEnvoyServer } from "../../../src/envoy/server.ts";
import type {
  EnvoyServer,
  EnvoyServerAddress,
  ProcessCall,
  ProcessListener,
} from "../../../src/envoy/transport/contract.ts";

export const MAX_MESSAGE_BYTES = 1024 * 1024;

export interface WireServer {
  readonly server: EnvoyServer;
  readonly socketPath: string;
  /** Bodies that came, by the order of their calls. */
  readonly bodies: string[][];
  readonly calls: ProcessCall[];
  /** How many calls have ended. */
  readonly ended: { count: number };
  /** How many checks were asked. */
  readonly checks: { count: number };
  /** What a body is answered with: itself, until a test says otherwise; null is no answer. */
  answer: (body: Buffer, call: ProcessCall) => Buffer | null;
  stop(): Promise<void>;
}

/** Answers checks with OK, but for the path `/never`, and bodies as `answer` says. */
export async function startWireServer(
  address?: EnvoyServerAddress,
  maxMessageBytes = MAX_MESSAGE_BYTES,
  maxCalls?: number,
): Promise<WireServer> {
  const folder = await mkdtemp(path.join(tmpdir(), "wire-"));
  const socketPath = path.join(folder, "server.sock");
  const bodies: string[][] = [];
  const calls: ProcessCall[] = [];
  const ended = { count: 0 };
  const checks = { count: 0 };
  const openProcess = (call: ProcessCall): ProcessListener => {
    const own: string[] = [];
    bodies.push(own);
    calls.push(call);
    return {
      onMessage({ request_body }) {
        const body = request_body?.body ?? Buffer.alloc(0);
        own.push(body.toString());
        const answer = state.answer(body, call);
        if (answer !== null) call.reply({ request_body: { response: { body_mutation: { body: answer } } } });
      },
      onEnd: () => void (ended.count += 1),
    };
  };
  const server = await createEnvoyServer({
    transport: "wire",
    address: address ?? { socketPath },
    maxMessageBytes,
    ...(maxCalls === undefined ? {} : { maxCalls }),
    handlers: {
      check: async ({ attributes }) => {
        checks.count += 1;
        if (attributes?.request?.http?.path === "/never") await new Promise(() => {});
        return { status: { code: 0 } };
      },
      openProcess,
      log: () => undefined,
      isServing: () => true,
    },
  });
  await server.listen();
  const state: WireServer = {
    server,
    socketPath,
    bodies,
    calls,
    ended,
    checks,
    answer: (body) => body,
    async stop() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return state;
}
