/** Handles the messages of a stream one after the other, though the reply to one may have to wait for something. */
import type { ProcessCall } from "./transport/contract.ts";

/** It is a promise only where the reply has to wait for something: chunks of a stream are answered at once. */
export type Handled = Promise<void> | undefined;

export class MessageTurns {
  readonly #call: Pick<ProcessCall, "pause" | "resume">;
  readonly #onError: (error: unknown) => void;
  /** The reply that is being worked on; messages that come meanwhile wait for it. */
  #pending: Promise<void> | null = null;

  constructor(call: Pick<ProcessCall, "pause" | "resume">, onError: (error: unknown) => void) {
    this.#call = call;
    this.#onError = onError;
  }

  take(handle: () => Handled): void {
    const before = this.#pending;
    // One may wait here, since it is read already; more of them stay with Envoy.
    if (before !== null) this.#call.pause();
    this.waitFor(before === null ? handle() : before.then(handle));
  }

  /** For what was begun by no message: those that come meanwhile are handled after it. */
  waitFor(started: Handled): void {
    if (started === undefined) return;
    const finish = (): void => {
      if (this.#pending !== pending) return;
      this.#pending = null;
      this.#call.resume();
    };
    const pending: Promise<void> = started.then(finish, (error: unknown) => {
      this.#onError(error);
      finish();
    });
    this.#pending = pending;
  }
}
