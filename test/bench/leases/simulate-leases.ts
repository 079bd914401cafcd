/**
 * Simulates an organization of 100,000 requests per second whose counters are leased to hosts: each host spends from its
 * own lease and asks Redis only for the next one. Deterministic: docs/internals/one-organization.md quotes its figures.
 */

export interface LeaseScenario {
  readonly hosts: number;
  readonly requestsPerSecond: number;
  /** Units that a request takes, on average: microcents, or tokens. */
  readonly meanUnits: number;
  /** Largest number of units of one request, and the smallest lease. */
  readonly maxUnits: number;
  /** What the counter has at the start, and at most. */
  readonly units: number;
  /** Units that come back every second: 0 for a cap. */
  readonly refillPerSecond: number;
  readonly seconds: number;
  /** A lease lasts about as long at the host's present rate. */
  readonly leaseSeconds: number;
  /** When one host is lost with its lease; null: none is. */
  readonly lossAtSecond: number | null;
}

export interface LeaseFigures {
  /** Calls to Redis per second, as long as nothing was rejected. */
  readonly callsPerSecond: number;
  /** Most calls in one second, when the counter is empty. */
  readonly peakCallsPerSecond: number;
  readonly requests: number;
  /** Requests that waited for a call. */
  readonly waited: number;
  readonly rejected: number;
  /** Requests that were rejected although all hosts together had enough units. */
  readonly rejectedFalsely: number;
  /** Most units that all hosts together still had at a false rejection. */
  readonly leftAtFalseRejection: number;
  readonly spent: number;
  /** Units of the lost host's lease. */
  readonly lost: number;
}

const TICKS_PER_SECOND = 100;
/** A host that got nothing asks again after this, and an idle lease goes back. */
const RETRY_TICKS = 10;
const SEED = 58;

interface Host {
  share: number;
  lease: number;
  granted: number;
  /** Units of a second, smoothed. */
  rate: number;
  used: number;
  retryAt: number;
  isLost: boolean;
}

class Simulation {
  readonly #scenario: LeaseScenario;
  readonly #random = createRandom(SEED);
  readonly #hosts: Host[];
  #remaining: number;
  #calls = 0;
  readonly #callsOfSecond: number[] = [];
  #firstRejectionTick: number | null = null;
  #callsBefore = 0;
  readonly #sums = { requests: 0, waited: 0, rejected: 0, rejectedFalsely: 0, left: 0, spent: 0, lost: 0 };

  constructor(scenario: LeaseScenario) {
    this.#scenario = scenario;
    this.#remaining = scenario.units;
    const rate = (scenario.requestsPerSecond * scenario.meanUnits) / scenario.hosts;
    this.#hosts = Array.from({ length: scenario.hosts }, () => ({
      share: 1,
      lease: 0,
      granted: 0,
      rate,
      used: 0,
      retryAt: 0,
      isLost: false,
    }));
  }

  run(): LeaseFigures {
    const { seconds, lossAtSecond } = this.#scenario;
    for (let tick = 0; tick < seconds * TICKS_PER_SECOND; tick += 1) {
      if (tick % TICKS_PER_SECOND === 0) this.#beginSecond();
      if (lossAtSecond !== null && tick === lossAtSecond * TICKS_PER_SECOND) this.#lose();
      this.#refill();
      for (const host of this.#hosts) if (!host.isLost) this.#work(host, tick);
    }
    const before = (this.#firstRejectionTick ?? seconds * TICKS_PER_SECOND) / TICKS_PER_SECOND;
    const calls = this.#firstRejectionTick === null ? this.#calls : this.#callsBefore;
    const { left, ...sums } = this.#sums;
    return {
      callsPerSecond: Math.round(calls / before),
      peakCallsPerSecond: Math.max(...this.#callsOfSecond),
      leftAtFalseRejection: left,
      ...sums,
    };
  }

  /** Traffic moves: each second, hosts get between a half and one and a half of an even share. */
  #beginSecond(): void {
    this.#callsOfSecond.push(0);
    for (const host of this.#hosts) {
      host.share = 0.5 + this.#random();
      host.rate = (host.rate + host.used) / 2;
      host.used = 0;
    }
    const whole = this.#hosts.reduce((sum, { share }) => sum + share, 0);
    for (const host of this.#hosts) host.share /= whole;
  }

  #refill(): void {
    const { refillPerSecond, units } = this.#scenario;
    if (refillPerSecond === 0) return;
    const leased = this.#hosts.reduce((sum, { lease }) => sum + lease, 0);
    const room = Math.max(0, units - this.#remaining - leased);
    this.#remaining += Math.min(room, refillPerSecond / TICKS_PER_SECOND);
  }

  #lose(): void {
    const [host] = this.#hosts;
    if (host === undefined) return;
    host.isLost = true;
    this.#sums.lost = host.lease;
  }

  #work(host: Host, tick: number): void {
    const { requestsPerSecond, meanUnits, maxUnits } = this.#scenario;
    const mean = (requestsPerSecond * host.share) / TICKS_PER_SECOND;
    const count = Math.floor(mean + this.#random());
    for (let request = 0; request < count; request += 1) {
      const drawn = Math.ceil(-Math.log(1 - this.#random()) * meanUnits);
      this.#admit(host, Math.min(maxUnits, drawn), tick);
    }
    const isLow = host.lease < host.granted / 2;
    if (isLow && tick >= host.retryAt) this.#renew(host, tick);
  }

  #admit(host: Host, units: number, tick: number): void {
    const sums = this.#sums;
    sums.requests += 1;
    if (host.lease < units && tick >= host.retryAt) {
      sums.waited += 1;
      this.#renew(host, tick);
    }
    if (host.lease >= units) {
      host.lease -= units;
      host.used += units;
      sums.spent += units;
      return;
    }
    sums.rejected += 1;
    this.#firstRejectionTick ??= this.#markRejection(tick);
    const left = this.#remaining + this.#hosts.reduce((sum, one) => sum + (one.isLost ? 0 : one.lease), 0);
    if (left < units) return;
    sums.rejectedFalsely += 1;
    sums.left = Math.max(sums.left, left);
  }

  #markRejection(tick: number): number {
    this.#callsBefore = this.#calls;
    return tick;
  }

  /** One script call: the lease goes back, and the next one is at most what the host's part of the rest is. */
  #renew(host: Host, tick: number): void {
    const { hosts, leaseSeconds, maxUnits } = this.#scenario;
    this.#calls += 1;
    this.#callsOfSecond[this.#callsOfSecond.length - 1] = (this.#callsOfSecond.at(-1) ?? 0) + 1;
    this.#remaining += host.lease;
    const wanted = Math.min(Math.ceil(host.rate * leaseSeconds), Math.floor(this.#remaining / (2 * hosts)));
    host.lease = Math.min(this.#remaining, Math.max(wanted, maxUnits));
    host.granted = host.lease;
    this.#remaining -= host.lease;
    if (host.lease < maxUnits) host.retryAt = tick + RETRY_TICKS;
  }
}

export function simulateLeases(scenario: LeaseScenario): LeaseFigures {
  return new Simulation(scenario).run();
}

/** Numbers from 0 to 1, always the same (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
