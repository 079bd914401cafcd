/** Stands between a client and the gateway and notes what was asked and answered; changes nothing. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request as startRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface PassedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

export interface RecordingProxy {
  readonly baseUrl: string;
  /** In the order of the answers' beginning. */
  readonly passed: readonly PassedRequest[];
  close(): void;
}

/**
 * On a free port, in front of `target` ("http://127.0.0.1:10000"). `beforeFirst` runs when the first request has come and
 * before it is passed on: whatever a client takes to start, it meets what was prepared there.
 */
export async function startRecordingProxy(
  target: string,
  beforeFirst: () => Promise<void> = () => Promise.resolve(),
): Promise<RecordingProxy> {
  const { hostname, port } = new URL(target);
  const passed: PassedRequest[] = [];
  let prepared: Promise<void> | null = null;
  const server = createServer((incoming, outgoing) => {
    prepared ??= beforeFirst();
    void prepared.then(() => pass(incoming, outgoing));
  });
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method = "", url: path = "", headers } = incoming;
    const onward = startRequest({ hostname, port, method, path, headers }, (answer) => {
      passed.push({ method, path, status: answer.statusCode ?? 0 });
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
