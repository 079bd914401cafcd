/**
 * Remembers which upstreams have been reached since the gateway started on this host. A server that was reached and
 * is gone is presumably restarting; one that was never reached may have a wrong address, and the client's error says
 * so. The workers of a host share this knowledge, so that all give the same error.
 */
import type { Channel } from "../../../shared/host/channel.ts";

const KIND = "upstreams_reached";

export class ReachedUpstreams {
  readonly #names = new Set<string>();
  readonly #channel: Channel;

  /** Asks the host's other workers for what they know. */
  constructor(channel: Channel) {
    this.#channel = channel;
    channel.onMessage((message) => {
      for (const name of parseNames(message)) this.#names.add(name);
    });
    this.#report();
  }

  has(upstream: string): boolean {
    return this.#names.has(upstream);
  }

  /** The upstream has accepted a connection. Called with every response; a known upstream costs one look-up. */
  note(upstream: string): void {
    if (this.#names.has(upstream)) return;
    this.#names.add(upstream);
    this.#report();
  }

  #report(): void {
    this.#channel.send({ kind: KIND, names: [...this.#names] });
  }
}

/** The supervisor's side: sends each worker's upstreams to every worker, with all earlier ones. */
export function shareReachedUpstreams(channel: Channel): void {
  const names = new Set<string>();
  channel.onMessage((message) => {
    if (!isOwn(message)) return;
    for (const name of parseNames(message)) names.add(name);
    channel.send({ kind: KIND, names: [...names] });
  });
}

function isOwn(message: unknown): message is { readonly names: unknown } {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === KIND;
}

function parseNames(message: unknown): readonly string[] {
  if (!isOwn(message) || !Array.isArray(message.names)) return [];
  return message.names.filter((name) => typeof name === "string");
}
