/** What requests cost, as a plain model: the table of transitions in integers without a limit. */
import { microseconds } from "./clock-fixture.ts";

export const START = microseconds("2026-07-07T07:07:07Z");
export const REQUESTS = 6;
/** Requests belong to them in turn. */
export const KEYS = 2;
/** Time from the opening of a record to its deadline. */
const DEADLINE_MS = 30_000;

export interface ChargeStep {
  readonly kind: "charge";
  readonly request: number;
  readonly sequence: number;
  readonly total: bigint;
  /** Best estimate, of twice the tokens; none with a final charge. */
  readonly estimate: bigint;
  readonly tokens: number;
  readonly final: boolean;
  /** A final one only: its owner takes it for the request's only command, rightly or not. */
  readonly brief: boolean;
}

export type Step =
  | { readonly kind: "open" | "renew" | "forget"; readonly request: number }
  | ChargeStep
  /** In one turn, each of another request. */
  | { readonly kind: "charges"; readonly charges: readonly ChargeStep[] }
  | { readonly kind: "wait"; readonly milliseconds: number }
  /** What a supervisor saw, and when it acts on it: at once, or after the next step. */
  | { readonly kind: "close"; readonly stale: boolean }
  /** Every command so far once more, in its order: a spool that is replayed. */
  | { readonly kind: "replay" };

/** What each request's floor and worst case are, so that an opening that is repeated says the same. */
export const FLOORS = [50n, 10n ** 14n + 1n, 0n, 7n, 3n, 0n];
export const WORST_CASES = [100n, 1_000n, 10n ** 15n, 0n, 9n, 1n];

interface ModelRequest {
  state: "open" | "closed";
  final: boolean;
  sequence: number;
  charged: bigint;
  /** Null: none, or it had its final charge. */
  estimate: { readonly total: bigint; readonly input: number } | null;
  input: number;
  requests: number;
  estimated: number;
  floor: bigint;
  worst: bigint;
  deadline: number;
}

/** Applies each command as the table says; `figures` is then what must have been spent and used. */
export class SpendModel {
  readonly records = new Map<number, ModelRequest>();
  readonly #spent = new Map<number, bigint>();
  readonly #input = new Map<number, number>();
  readonly #requests = new Map<number, number>();
  readonly #estimated = new Map<number, number>();
  readonly #strict: boolean;
  readonly #maxConcurrent: number | null;
  now = Number(START / 1000n);

  constructor(strict: boolean, maxConcurrent: number | null) {
    this.#strict = strict;
    this.#maxConcurrent = maxConcurrent;
  }

  openRecord(request: number): string {
    if (this.records.has(request)) return "exists";
    const inFlight = this.inFlight(request % KEYS).length;
    if (this.#maxConcurrent !== null && inFlight >= this.#maxConcurrent) return "concurrency_limited";
    const worst = this.#strict ? (WORST_CASES[request] ?? 0n) : 0n;
    this.records.set(request, this.#create(FLOORS[request] ?? 0n, worst));
    return "opened";
  }

  charge(request: number, step: ChargeStep): void {
    const record = this.records.get(request) ?? this.#create(0n, 0n);
    this.records.set(request, record);
    if (step.sequence <= record.sequence) return;
    const isClosedByAnother = record.state === "closed" && !step.final;
    const isEstimate = isClosedByAnother && step.estimate > step.total;
    const input = isClosedByAnother ? 2 * step.tokens : step.tokens;
    this.#set(request, record, isEstimate ? step.estimate : step.total, input, 1, 0);
    record.sequence = step.sequence;
    record.estimate = step.final ? null : { total: step.estimate, input: 2 * step.tokens };
    if (!step.final) return;
    record.final = true;
    record.state = "closed";
    record.deadline = Number.POSITIVE_INFINITY;
  }

  renew(request: number): string {
    const record = this.records.get(request);
    if (record === undefined) return "missing";
    if (record.final) return "ended";
    record.deadline = this.now + DEADLINE_MS;
    const outcome = record.state === "open" ? "renewed" : "reopened";
    record.state = "open";
    return outcome;
  }

  closeOverdue(requests: readonly number[]): void {
    for (const request of requests) {
      const record = this.records.get(request);
      if (record === undefined || record.state !== "open" || record.deadline > this.now) continue;
      let { charged: total, input } = record;
      if (record.estimate !== null && record.estimate.total > total) ({ total, input } = record.estimate);
      if (record.sequence === 0 || record.floor > total) {
        input = Math.max(input, request);
        total = record.floor > total ? record.floor : total;
      }
      this.#set(request, record, total, input, 1, 1);
      record.state = "closed";
      record.deadline = Number.POSITIVE_INFINITY;
    }
  }

  overdue(): number[] {
    return [...this.records].filter(([, record]) => record.deadline <= this.now).map(([request]) => request);
  }

  /** Requests of a key whose record is open. */
  inFlight(key: number): number[] {
    const open = [...this.records].filter(
      ([request, { state }]) => request % KEYS === key && state === "open",
    );
    return open.map(([request]) => request);
  }

  held(): bigint {
    const left = ({ state, worst, charged }: ModelRequest): bigint =>
      state === "open" && worst > charged ? worst - charged : 0n;
    return [...this.records.values()].reduce((sum, record) => sum + left(record), 0n);
  }

  figures(request: number): { spent: bigint; input: number; requests: number; estimated: number } {
    return {
      spent: this.#spent.get(request) ?? 0n,
      input: this.#input.get(request) ?? 0,
      requests: this.#requests.get(request) ?? 0,
      estimated: this.#estimated.get(request) ?? 0,
    };
  }

  #create(floor: bigint, worst: bigint): ModelRequest {
    const deadline = this.now + DEADLINE_MS;
    const none = { sequence: 0, charged: 0n, estimate: null, input: 0, requests: 0, estimated: 0 };
    return { state: "open", final: false, floor, worst, deadline, ...none };
  }

  /** Totals are set on the record; only their differences reach what the request's key and organization spent. */
  #set(
    request: number,
    record: ModelRequest,
    total: bigint,
    input: number,
    requests: number,
    estimated: number,
  ): void {
    this.#spent.set(request, (this.#spent.get(request) ?? 0n) + total - record.charged);
    this.#input.set(request, (this.#input.get(request) ?? 0) + input - record.input);
    this.#requests.set(request, (this.#requests.get(request) ?? 0) + requests - record.requests);
    this.#estimated.set(request, (this.#estimated.get(request) ?? 0) + estimated - record.estimated);
    Object.assign(record, { charged: total, input, requests, estimated });
  }
}
