/** What runs at an upstream, as far as a server can know it: it reads late that a client has gone. */
import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * How many requests run at a time. A server hears of a request and of its end when its event loop comes to read them, and
 * both may lie in the socket by then; Node even reads the end one turn after the request that it follows, and closes the
 * response some turns later. So whoever was there when a request came counts beside it only if it is there still once all
 * has been read that had come by then.
 */
export class RunningRequests {
  /** Requests that have come. */
  begun = 0;
  /** The most that have run at a time. */
  most = 0;
  readonly #running = new Set<ServerResponse>();

  get size(): number {
    return this.#running.size;
  }

  add(incoming: IncomingMessage, response: ServerResponse): void {
    const { socket } = incoming;
    const end = (): void => {
      this.#running.delete(response);
      socket.off("end", end);
      socket.off("error", end);
    };
    socket.once("end", end);
    socket.once("error", end);
    response.once("finish", end);
    response.once("close", end);
    this.begun += 1;
    this.#running.add(response);
    const beside = [...this.#running];
    afterReading(() => {
      const stillThere = beside.filter((one) => this.#running.has(one));
      this.most = Math.max(this.most, stillThere.length);
    });
  }
}

/** The rest of this turn, and two whole ones: each reads what has come, the end of a request one turn after its bytes. */
function afterReading(act: () => void): void {
  setImmediate(() => setImmediate(() => setImmediate(act)));
}
