/**
 * Memory of one worker for bodies, and the largest body. A worker rejects requests before many large bodies at once
 * exhaust its memory.
 *
 * An organization, and each of its keys, has only a fraction of what the others leave free. So an organization that
 * uses much memory (waiting bodies, state of responses, collected responses) is the one that gets rejected, and
 * others keep their part.
 */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { Tally } from "../../../shared/collections/tally.ts";
import type { BodyOwner } from "./body-owner.ts";
import { BodyReservations } from "./body-reservations.ts";
import { BodyWork } from "./body-work.ts";
import { StepTurns } from "./step-turns.ts";

export interface BodyLimits {
  /**
   * `limits.max_body_bytes`. Envoy itself rejects larger bodies, with a margin for what a body may gain in
   * translation.
   */
  readonly maxBodyBytes: number;
  /** The largest body that Envoy accepts back as the upstream's body. */
  readonly maxUpstreamBytes: number;
  /** `limits.max_buffered_bytes`. */
  readonly maxBufferedBytes: number;
}

/** Fraction of the memory that other organizations have not used. */
const ORGANIZATION_SHARE = 1 / 2;
/** Fraction of the organization's share that its other keys have not used. */
const KEY_SHARE = 3 / 4;
/**
 * A single body of any size is accepted while all others use no more than this. Otherwise a budget below one body's
 * size would block the worker.
 */
const MAX_USED_BEFORE_SINGLE = 1 / 4;

export class BodyBudget {
  readonly reservations = new BodyReservations(this);
  readonly work = new BodyWork(this);
  readonly steps = new StepTurns();
  readonly #limits: BodyLimits;
  readonly #ofKey = new Tally();
  readonly #ofOrganization = new Tally();
  #retainedBytes = 0;
  #workBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Bytes in use: stored ones, and the temporary ones of work on bodies. */
  get bufferedBytes(): number {
    return this.#retainedBytes + this.#workBytes;
  }

  /**
   * @param bytes Size of the body so far.
   * @throws GatewayError 413 `request_too_large`
   */
  checkBody(bytes: number): void {
    const { maxBodyBytes } = this.#limits;
    if (bytes <= maxBodyBytes) return;
    const message = `The request body has more than ${maxBodyBytes} bytes, the most that this gateway accepts.`;
    throw new GatewayError("request_too_large", { message });
  }

  /** @throws GatewayError 413 `request_too_large` if the translated body is too large. */
  checkUpstreamBody(bytes: number): void {
    const { maxUpstreamBytes } = this.#limits;
    if (bytes <= maxUpstreamBytes) return;
    const message = `The request body has ${bytes} bytes in the model server's format; this gateway sends at most ${maxUpstreamBytes}.`;
    throw new GatewayError("request_too_large", { message });
  }

  /**
   * @param countedOfBody Bytes already counted for the same body, so that a body in pieces has the same limit as a whole
   * one.
   * @param part Fraction of the owner's shares that may be used.
   * @throws GatewayError 429 `buffer_limit_exceeded` if the bytes exceed the owner's share, 503 `gateway_overloaded`
   * if others use the rest. Nothing is counted then.
   */
  take(owner: BodyOwner, bytes: number, countedOfBody = 0, part = 1): void {
    const { keyId, organizationId } = owner;
    const { maxBufferedBytes } = this.#limits;
    const ofKey = this.#ofKey.of(keyId);
    const ofOrganization = this.#ofOrganization.of(organizationId);
    const organizationShare =
      (maxBufferedBytes - (this.#retainedBytes - ofOrganization)) * ORGANIZATION_SHARE;
    const keyShare = (organizationShare - (ofOrganization - ofKey)) * KEY_SHARE;
    // An owner's only body is within its share at any size.
    if (ofOrganization > countedOfBody && ofOrganization + bytes > organizationShare * part) {
      throw overShare("The organization of this API key");
    }
    if (ofKey > countedOfBody && ofKey + bytes > keyShare * part) {
      throw overShare(`API key "${owner.keyName}"`);
    }
    const isSingle = this.#retainedBytes - countedOfBody <= maxBufferedBytes * MAX_USED_BEFORE_SINGLE;
    if (!isSingle && this.#retainedBytes + bytes > maxBufferedBytes) {
      throw new GatewayError("gateway_overloaded");
    }
    this.count(owner, bytes);
  }

  /** Counts bytes that are already in memory. */
  count({ keyId, organizationId }: BodyOwner, bytes: number): void {
    this.#retainedBytes += bytes;
    this.#ofKey.add(keyId, bytes);
    this.#ofOrganization.add(organizationId, bytes);
    if (bytes < 0) this.reservations.wake();
  }

  /** Releases bytes that `take` or `count` counted. */
  release(owner: BodyOwner, bytes: number): void {
    this.count(owner, -bytes);
  }

  /** Returns whether work of this size fits. The only work is always accepted. */
  fitsWork(bytes: number): boolean {
    return this.#workBytes === 0 || this.bufferedBytes + bytes <= this.#limits.maxBufferedBytes;
  }

  /** @param bytes Negative when the work ends or needs less. */
  countWork(bytes: number): void {
    this.#workBytes += bytes;
  }
}

function overShare(owner: string): GatewayError {
  return new GatewayError("buffer_limit_exceeded", {
    message: `${owner} has reached its share of the gateway's memory. Try again when one of its requests has ended, or send smaller bodies.`,
  });
}
