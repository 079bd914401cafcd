/**
 * The bytes of bodies that one worker holds at a time, and the most that one body may have. A worker that would hold more
 * refuses the request instead of running out of memory under many large bodies at once.
 *
 * Whoever holds much is refused before all is taken: an organization, and a key in it, has a part of what the others leave
 * free. So what one tenant holds (bodies that wait, what answers depend on, answers that are collected) is refused to itself,
 * and leaves room for the next.
 */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { Tally } from "../../../shared/collections/tally.ts";
import type { BodyOwner } from "./body-owner.ts";
import { BodyRoom } from "./body-room.ts";
import { BodyWork } from "./body-work.ts";
import { StepTurns } from "./step-turns.ts";

export interface BodyLimits {
  /** `limits.max_body_bytes`. Envoy refuses first what is larger by more than a body may gain on its way. */
  readonly maxBodyBytes: number;
  /** The largest body that may go upstream in the place of a client's: what Envoy takes back. */
  readonly maxUpstreamBytes: number;
  /** `limits.max_buffered_bytes`. */
  readonly maxBufferedBytes: number;
}

/** Of what other organizations leave free. */
const ORGANIZATION_SHARE = 1 / 2;
/** Of what the organization's other keys leave of its share. */
const KEY_SHARE = 3 / 4;
/** Beside so much of others a single body of any size is taken: else a worker could have a budget that is less than a body. */
const BESIDE_SINGLE_SHARE = 1 / 4;

export class BodyBudget {
  readonly room = new BodyRoom(this);
  readonly work = new BodyWork(this);
  readonly steps = new StepTurns();
  readonly #limits: BodyLimits;
  readonly #ofKey = new Tally();
  readonly #ofOrganization = new Tally();
  #keptBytes = 0;
  #workBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** All of it: what is kept, and what the work on bodies takes for the moment. */
  get bufferedBytes(): number {
    return this.#keptBytes + this.#workBytes;
  }

  /**
   * @param bytes Of the body so far.
   * @throws GatewayError 413 `request_too_large`
   */
  checkBody(bytes: number): void {
    const { maxBodyBytes } = this.#limits;
    if (bytes <= maxBodyBytes) return;
    const message = `The request body has more than ${maxBodyBytes} bytes, the most that this gateway accepts.`;
    throw new GatewayError("request_too_large", { message });
  }

  /** @throws GatewayError 413 `request_too_large`: what the upstream would get has grown too much. */
  checkUpstreamBody(bytes: number): void {
    const { maxUpstreamBytes } = this.#limits;
    if (bytes <= maxUpstreamBytes) return;
    const message = `The request body has ${bytes} bytes in the model server's format; this gateway sends at most ${maxUpstreamBytes}.`;
    throw new GatewayError("request_too_large", { message });
  }

  /**
   * @param heldOfBody What the same body has taken before: a single body has the same room in pieces as at once.
   * @param part Of the owner's shares.
   * @throws GatewayError 429 `buffer_limit_exceeded` where it is more than the owner's share, 503 `gateway_overloaded` where
   * others hold the rest; nothing is counted then.
   */
  take(owner: BodyOwner, bytes: number, heldOfBody = 0, part = 1): void {
    const { keyId, organizationId } = owner;
    const { maxBufferedBytes } = this.#limits;
    const ofKey = this.#ofKey.of(keyId);
    const ofOrganization = this.#ofOrganization.of(organizationId);
    const organizationShare = (maxBufferedBytes - (this.#keptBytes - ofOrganization)) * ORGANIZATION_SHARE;
    const keyShare = (organizationShare - (ofOrganization - ofKey)) * KEY_SHARE;
    // A body that is the owner's only one is within its share, whatever its size.
    if (ofOrganization > heldOfBody && ofOrganization + bytes > organizationShare * part) {
      throw overShare("The organization of this API key");
    }
    if (ofKey > heldOfBody && ofKey + bytes > keyShare * part) throw overShare(`API key "${owner.keyName}"`);
    const isSingle = this.#keptBytes - heldOfBody <= maxBufferedBytes * BESIDE_SINGLE_SHARE;
    if (!isSingle && this.#keptBytes + bytes > maxBufferedBytes) throw new GatewayError("gateway_overloaded");
    this.keep(owner, bytes);
  }

  /** Counts what is there already. */
  keep({ keyId, organizationId }: BodyOwner, bytes: number): void {
    this.#keptBytes += bytes;
    this.#ofKey.add(keyId, bytes);
    this.#ofOrganization.add(organizationId, bytes);
    if (bytes < 0) this.room.wake();
  }

  /** Gives back what `take` or `keep` counted. */
  release(owner: BodyOwner, bytes: number): void {
    this.keep(owner, -bytes);
  }

  /** Whether work that takes so much fits in; the work on one body does, whatever it takes. */
  hasRoomForWork(bytes: number): boolean {
    return this.#workBytes === 0 || this.bufferedBytes + bytes <= this.#limits.maxBufferedBytes;
  }

  /** @param bytes Negative: it is done, or takes less. */
  countWork(bytes: number): void {
    this.#workBytes += bytes;
  }
}

function overShare(owner: string): GatewayError {
  return new GatewayError("buffer_limit_exceeded", {
    message: `${owner} has reached its share of the gateway's memory. Try again when one of its requests has ended, or send smaller bodies.`,
  });
}
