import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { CHECK } from "../../../src/envoy/messages/codec.ts";
import { createEnvoyServer } from "../../../src/envoy/server.ts";
import { ERROR, FLAG, formatReset } from "../../../src/envoy/transport/wire/frames.ts";
import { TRANSPORTS } from "../../support/gateway-config.ts";
import { formatCall, formatGreeting, formatMessage, WireClient } from "../../support/wire-client.ts";

const TAKEN_BACK = 50;
const NEXT = 2 * TAKEN_BACK + 1;

function formatCheck(streamId: number): Buffer {
  const message = CHECK.encodeRequest({ attributes: {} });
  return Buffer.concat([formatCall(streamId, CHECK.path), formatMessage(streamId, message, FLAG.endStream)]);
}

it.each(TRANSPORTS)("%s asks nothing for checks that are taken back as they come", async (transport) => {
  const folder = await mkdtemp(join(tmpdir(), "taken-back-"));
  const socketPath = join(folder, "server.sock");
  let asked = 0;
  const server = await createEnvoyServer({
    transport,
    address: { socketPath },
    maxMessageBytes: 1_000_000,
    handlers: {
      isServing: () => true,
      check: async () => {
        asked += 1;
        return { status: { code: 0 } };
      },
      openProcess: () => ({ onMessage: () => undefined, onEnd: () => undefined }),
      log: () => undefined,
    },
  });
  await server.listen();
  const client = await WireClient.open(socketPath);
  onTestFinished(async () => {
    client.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const ids = Array.from({ length: TAKEN_BACK }, (_, index) => 2 * index + 1);
  const takenBack = ids.flatMap((id) => [formatCheck(id), formatReset(id, ERROR.cancel)]);
  await client.write(formatGreeting(), ...takenBack, formatCheck(NEXT));
  expect(await client.waitForStatus(NEXT)).toBe("0");
  expect(asked).toBe(1);
});
