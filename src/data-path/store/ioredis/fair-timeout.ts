import type { Cluster, Command, Redis } from "ioredis";

/** ioredis's own words for it; `test/store/client.test.ts` holds them. */
const TIMED_OUT = "Command timed out";
/** A timer that fires later than this share of its time says that the process did not get to run. */
const LATE = 1.2;
/** Milliseconds of commands that wait longer than their client's others. */
const LONGER = new WeakMap<Command, number>();

/**
 * Gives commands up after so long, and charges it to Redis alone. A process that got no turn meanwhile (a full machine, a long pause of the
 * collector) sees its timers before what has arrived in its sockets, and would call Redis late that has long answered:
 * every request of that moment would be refused for it. So the socket is read once more, and a timer that came late
 * itself is granted its client's time anew, once.
 *
 * Not by ioredis's option: the connections that a Cluster reads its slots by would have it, too, while they connect.
 */
export function timeOutFairly(client: Redis, timeoutMs: number): void {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    const sentMs = performance.now();
    command.setTimeout(timeoutMs);
    const { reject } = command;
    command.reject = (error) => {
      if (error.message !== TIMED_OUT) {
        reject(error);
      } else if (performance.now() - sentMs > LATE * (LONGER.get(command) ?? timeoutMs)) {
        // What came meanwhile has settled the command, and this does nothing.
        setTimeout(() => setImmediate(reject, error), timeoutMs);
      } else {
        setImmediate(reject, error);
      }
    };
    return send(command, stream);
  };
}

/** The same connection, whose commands wait longer for their answers when they are sent by what is returned. */
export function waitLonger<Client extends Redis | Cluster>(client: Client, timeoutMs: number): Client {
  const longer = Object.create(client) as Client;
  longer.sendCommand = (command: Command, ...rest: []) => {
    LONGER.set(command, timeoutMs);
    command.setTimeout(timeoutMs);
    return client.sendCommand(command, ...rest);
  };
  return longer;
}
