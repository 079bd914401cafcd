import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** A loopback port that was free a moment ago. Each call of one process gives another one. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    if (!given.has(port)) {
      given.add(port);
      return port;
    }
  }
}

const given = new Set<number>();
