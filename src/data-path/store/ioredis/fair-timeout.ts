import type { Cluster, Command, Redis } from "ioredis";

/** ioredis's error text; `test/store/client.test.ts` checks it. */
const TIMED_OUT = "Command timed out";
/** A timer that fires later than this multiple of its time shows that the process could not run. */
const LATE = 1.2;
/** Timeouts in milliseconds of commands that wait longer than the other commands of their client. */
const LONGER = new WeakMap<Command, number>();

/**
 * Times commands out, but only for time that Redis took. A process that could not run (overloaded host, long
 * garbage collection) sees its timers before the data in its sockets, and would time out commands that Redis
 * has already answered: all requests of that moment would be rejected. So the socket is read once more, and a
 * timer that fired late restarts once with the client's full time.
 * ioredis's own option is not used: it would also apply to the connections that a Cluster uses to read its
 * slots while they connect.
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
        // Does nothing if a reply that arrived meanwhile has settled the command.
        setTimeout(() => setImmediate(reject, error), timeoutMs);
      } else {
        setImmediate(reject, error);
      }
    };
    return send(command, stream);
  };
}

/** Returns a view of the same connection whose commands have a longer timeout. */
export function waitLonger<Client extends Redis | Cluster>(client: Client, timeoutMs: number): Client {
  const longer = Object.create(client) as Client;
  longer.sendCommand = (command: Command, ...rest: []) => {
    LONGER.set(command, timeoutMs);
    command.setTimeout(timeoutMs);
    return client.sendCommand(command, ...rest);
  };
  return longer;
}
