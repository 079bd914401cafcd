/** Servers that say what they were told: whatever of it comes back must not be passed on. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

export interface LeakyServer {
  readonly port: number;
  /** Conversations so far. */
  readonly calls: number;
  close(): void;
}

async function listen(server: Server, calls: () => number): Promise<LeakyServer> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get calls() {
      return calls();
    },
    close: () => server.close(),
  };
}

/** A mail server that refuses every log-in and repeats user, password and what it was sent. */
export async function startLeakyMailServer(): Promise<LeakyServer> {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.on("error", () => undefined);
    socket.write("220 leaky ESMTP\r\n");
    socket.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.split("\r\n").filter((one) => one !== "")) {
        const [verb = "", mechanism = "", credentials = ""] = line.split(" ");
        if (verb === "EHLO") socket.write("250-leaky\r\n250 AUTH PLAIN\r\n");
        else if (verb === "AUTH" && mechanism === "PLAIN") {
          const plain = Buffer.from(credentials, "base64").toString("utf8").replaceAll("\0", " ");
          socket.write(`535 5.7.8 no such log-in:${plain} (${credentials})\r\n`);
        } else if (verb === "QUIT") socket.end("221 bye\r\n");
        else socket.write("250 ok\r\n");
      }
    });
  });
  return listen(server, () => calls);
}

/** An HTTP server that answers 500 with all that it was sent. */
export async function startLeakyWebhook(): Promise<LeakyServer> {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").on("data", (text: string) => {
      const headers = `x-echo: ${encodeURIComponent(text).slice(0, 2_000)}\r\ncontent-length: ${Buffer.byteLength(text)}`;
      socket.end(`HTTP/1.1 500 ${text.split("\r\n")[0]}\r\n${headers}\r\n\r\n${text}`);
    });
  });
  return listen(server, () => calls);
}
