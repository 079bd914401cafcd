/** Messages between a host's supervisor and its workers; plain JSON values. */
export interface Channel {
  /**
   * Sends to the other side: from a worker to the supervisor, from the supervisor to every worker. Lost if
   * the receiver is gone.
   */
  send(message: unknown): void;
  /** Every listener gets every message and ignores other kinds. `workerIndex` is the sender's, or the worker's own. */
  onMessage(listener: (message: unknown, workerIndex: number) => void): void;
}

type Listener = Parameters<Channel["onMessage"]>[0];

/** Creates the receiving end: a list of listeners, and a function that passes a message to all of them. */
export function createListeners(): { add: (listener: Listener) => void; deliver: Listener } {
  const listeners: Listener[] = [];
  return {
    add: (listener) => void listeners.push(listener),
    deliver: (message, workerIndex) => {
      for (const listener of listeners) listener(message, workerIndex);
    },
  };
}
