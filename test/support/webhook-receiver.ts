/** A receiver of webhooks on loopback that keeps what it was sent and answers what the test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { KeyPair } from "./tls.ts";

export interface ReceivedWebhook {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}

/** A status, or whatever the function does to the response. */
export type WebhookAnswer = number | ((response: ServerResponse) => void);

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: ReceivedWebhook[];
  /** Called for each request, in order; 204 for all when null. May wait. */
  answer: ((request: ReceivedWebhook, index: number) => WebhookAnswer | Promise<WebhookAnswer>) | null;
  close(): Promise<void>;
}

/** @param port 0: a free one. */
export async function startWebhookReceiver(
  options: { port?: number; tls?: KeyPair } = {},
): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = options.tls === undefined ? createServer() : createTlsServer(options.tls);
  server.on("request", (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const entry: ReceivedWebhook = {
        path: request.url ?? "",
        method: request.method ?? "",
        headers: request.headers,
        body,
        event: JSON.parse(body) as ReceivedWebhook["event"],
      };
      received.push(entry);
      void Promise.resolve(receiver.answer?.(entry, received.length - 1) ?? 204).then((answer) => {
        return typeof answer === "number" ? response.writeHead(answer).end() : answer(response);
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http${options.tls === undefined ? "" : "s"}://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: null,
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}
