/** Handles the messages of a stream one after the other, also if the reply to one has to wait. */
import type { ProcessCall } from "./transport/contract.ts";

/** A promise only if the reply has to wait: chunks of a stream are answered at once. */
export type Handled = Promise<void> | undefined;

export class MessageTurns {
  readonly #call: Pick<ProcessCall, "pause" | "resume">;
  readonly #onError: (error: unknown) => void;
  /** The reply in progress; later messages wait for it. */
  #pending: Promise<void> | null = null;

  constructor(call: Pick<ProcessCall, "pause" | "resume">, onError: (error: unknown) => void) {
    this.#call = call;
    this.#onError = onError;
  }

  take(handle: () => Handled): void {
    const before = this.#pending;
    // One message may wait here, because it has been read; further ones stay with Envoy.
    if (before !== null) this.#call.pause();
    this.waitFor(before === null ? handle() : before.then(handle));
  }

  /** Waits for work that no message started, before handling later messages. */
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
