/**
 * Which upstreams have been reached since the gateway started on this host. A server that was there and is gone is
 * starting again, as far as anybody can tell; one that was never there may as well have the wrong address, and a client
 * is told that instead. The workers of a host share what they know, so that each tells the same.
 */
import type { Channel } from "../../../shared/host/channel.ts";

const KIND = "upstreams_reached";

export class ReachedUpstreams {
  readonly #names = new Set<string>();
  readonly #channel: Channel;

  /** Asks for what the host's other workers know already. */
  constructor(channel: Channel) {
    this.#channel = channel;
    channel.onMessage((message) => {
      for (const name of parseNames(message)) this.#names.add(name);
    });
    this.#tell();
  }

  has(upstream: string): boolean {
    return this.#names.has(upstream);
  }

  /** It has taken a connection. Called with every response: only the first one is more than a look-up. */
  note(upstream: string): void {
    if (this.#names.has(upstream)) return;
    this.#names.add(upstream);
    this.#tell();
  }

  #tell(): void {
    this.#channel.send({ kind: KIND, names: [...this.#names] });
  }
}

/** The supervisor's part: what one worker tells, every worker hears, together with all that was told before. */
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
