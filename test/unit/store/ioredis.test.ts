/** What src/data-path/store/ioredis takes for granted of the version that is pinned; docs/internals/speed.md has the list. */
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { Command, Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { findFreePort } from "../../support/free-port.ts";

/** The version by which all of this was read. Another one: run these tests, read its changes, then write it here. */
const VERSION = "6.0.0";

describe("ioredis", () => {
  it("is the version that was read", () => {
    const declared = json("../../../package.json")["dependencies"] as Record<string, string>;
    expect(declared["ioredis"]).toBe(VERSION);
    expect(json("../../../node_modules/ioredis/package.json")["version"]).toBe(VERSION);
  });

  it("writes a command by its args, which one that is made of it may set", () => {
    const command = new Command("evalsha", [], { replyEncoding: "utf8" });
    command.args = ["one", "two"];
    expect(String(command.toWritable(Buffer.alloc(0)))).toBe(
      "*3\r\n$7\r\nevalsha\r\n$3\r\none\r\n$3\r\ntwo\r\n",
    );
  });

  it("writes to client.stream within sendCommand, and gives a command up by its reject", async () => {
    const port = await findFreePort();
    const sockets: Socket[] = [];
    const silent = createServer((socket) => {
      sockets.push(socket);
      // What a client says of itself first is declined; what comes then has no answer.
      socket.on("data", (bytes) => bytes.includes("ping") || socket.write("-ERR unknown command\r\n"));
    }).listen(port, "127.0.0.1");
    const client = new Redis({
      port,
      host: "127.0.0.1",
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      disableClientInfo: true,
      protocol: 2,
      lazyConnect: true,
    });
    client.on("error", () => undefined);
    onTestFinished(() => {
      client.disconnect();
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    await client.connect();
    const written: string[] = [];
    const { stream } = client;
    const write = stream.write.bind(stream);
    stream.write = (chunk: string | Buffer, ...rest: never[]) => {
      written.push(String(chunk));
      return write(chunk, ...rest);
    };
    const command = new Command("ping", [], { replyEncoding: "utf8" });
    const rejected: string[] = [];
    const { reject } = command;
    command.reject = (error) => {
      rejected.push(error.message);
      reject(error);
    };
    command.setTimeout(20);
    // The first one counts.
    command.setTimeout(60_000);
    const sent = client.sendCommand(command);
    expect(written.join("")).toContain("$4\r\nping\r\n");
    await expect(sent).rejects.toThrow("Command timed out");
    expect(rejected).toEqual(["Command timed out"]);
  });

  it("has a class that extends String, which takes the methods of all strings out of V8's sight", () => {
    const file = "../../../node_modules/ioredis/built/resp/verbatim-string.js";
    expect(readFileSync(new URL(file, import.meta.url), "utf8")).toContain("extends String");
  });
});

function json(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as Record<string, unknown>;
}
