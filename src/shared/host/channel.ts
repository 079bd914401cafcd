/** Messages of the gateway's own between the supervisor of a host and its workers; plain JSON values. */
export interface Channel {
  /** To the other side: from a worker to the supervisor, from the supervisor to every worker. Lost when it is gone. */
  send(message: unknown): void;
  /**
   * Each listener gets every message and passes over what is not its own. `workerIndex` is the sender's, or the worker's
   * own.
   */
  onMessage(listener: (message: unknown, workerIndex: number) => void): void;
}

type Listener = Parameters<Channel["onMessage"]>[0];

/** The receiving end: those who listen, and what hands a message to each of them. */
export function createListeners(): { add: (listener: Listener) => void; deliver: Listener } {
  const listeners: Listener[] = [];
  return {
    add: (listener) => void listeners.push(listener),
    deliver: (message, workerIndex) => {
      for (const listener of listeners) listener(message, workerIndex);
    },
  };
}
