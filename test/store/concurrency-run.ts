import { strict as assert } from "node:assert";
import { createId } from "../../src/data-path/store/ids.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import type { OpenRecordResult, RequestIdentity } from "../../src/shared/stored/settlement.ts";
import { openingCharge } from "../../src/data-path/spool/opened-request.ts";
import type { FakeClock } from "../support/redis.ts";
import { admitKnown, chargeInput, createIdentity, FINAL, openRecordInput, type TestKey } from "./fixture.ts";

/** What a client, its worker or a reaper does; those of one round do it at once, over two connections. */
export type Move = "admit" | "cancel" | "vanish" | "upload" | "uploadTwice" | "end" | "endTwice" | "die";
export type Step =
  | { readonly kind: "round"; readonly moves: readonly { readonly client: number; readonly move: Move }[] }
  | { readonly kind: "limit"; readonly limit: number | null }
  | { readonly kind: "wait"; readonly milliseconds: number }
  | { readonly kind: "reap" }
  | { readonly kind: "late" };

type State =
  /** Headers have come, no body. */
  | { readonly is: "admitted"; readonly isEntered: boolean; readonly atMs: number }
  | { readonly is: "running"; hasRecord: boolean }
  /** Its worker has died: nobody ends it but the reaper. */
  | { readonly is: "lost" };

interface Running {
  readonly identity: RequestIdentity;
  state: State;
}

/** The longest that an admission's entry may carry a request upstream, and that it counts without. */
const MAX_ADMISSION_AGE_MS = 1_000;
const ENTERED_IN_FLIGHT_MS = 10_000;

/**
 * Requests of one key at two workers, as the workers move them, and a model beside them: the set of those that run. Commands
 * of a round overtake each other, so the model has bounds. Whoever ran before it and does not end in it runs throughout; a
 * slot may be taken by whoever had, or may have got, one.
 */
export class ConcurrencyRun {
  limit: number | null = null;
  readonly #stores: readonly Store[];
  readonly #clock: FakeClock;
  readonly #key: TestKey;
  #nowMs: number;
  readonly #clients = new Map<number, Running>();
  /** Entries that nobody gives up, until when. */
  #abandonedUntilMs: number[] = [];
  readonly #sent: (() => Promise<unknown>)[] = [];
  #turn = 0;

  constructor(stores: readonly Store[], key: TestKey, clock: FakeClock, startMs: number) {
    this.#stores = stores;
    this.#key = key;
    this.#clock = clock;
    this.#nowMs = startMs;
  }

  async apply(step: Step): Promise<void> {
    if (step.kind === "round") return this.#round(step.moves);
    if (step.kind === "wait") return this.#wait(step.milliseconds);
    if (step.kind === "reap") return this.#reap();
    if (step.kind === "late") {
      await Promise.all(this.#sent.splice(0).map((send) => send()));
      return;
    }
    const { organizationId, keyId } = this.#key;
    await this.#store.changeKey({ organizationId, keyId }, { maxConcurrentRequests: step.limit }, null);
    this.limit = step.limit;
  }

  /** Ends all that runs; how many slots are taken then. */
  async finish(countSlots: () => Promise<number>): Promise<number> {
    const moves = [...this.#clients.keys()].flatMap((client) => [
      { client, move: "cancel" as const },
      { client, move: "end" as const },
    ]);
    for (const move of moves) await this.#round([move]);
    this.#advance(60_001);
    await this.#reap();
    return countSlots();
  }

  async #round(moves: readonly { client: number; move: Move }[]): Promise<void> {
    const before = new Set(this.#in("running"));
    const mayHave = this.#mayHaveSlots();
    const ending = new Set<Running>();
    const opened: Running[] = [];
    let refused = 0;
    let entered = 0;
    const outcomes = moves.map(async ({ client, move }) => {
      const one = this.#clients.get(client);
      if (move === "admit" && one === undefined) {
        const outcome = await this.#admit(client);
        if (outcome === "refused") refused += 1;
        if (outcome === "entered") entered += 1;
      } else if (one?.state.is === "admitted") {
        if (move === "cancel") await this.#cancel(client, one);
        if (move === "vanish") this.#vanish(client, one);
        if (move !== "upload" && move !== "uploadTwice") return;
        const outcome = await this.#upload(client, one, move === "uploadTwice");
        if (outcome === "opened") opened.push(one);
        if (outcome === "refused") refused += 1;
      } else if (one?.state.is === "running") {
        if (move === "end" || move === "endTwice") {
          ending.add(one);
          await this.#end(client, one, move === "endTwice");
        }
        if (move === "die") this.#die(one);
      }
    });
    await Promise.all(outcomes);
    if (this.limit === null) return;
    const throughout = [...before].filter((one) => !ending.has(one)).length;
    if (opened.length > 0) {
      assert.ok(throughout + opened.length <= this.limit, "more run at once than the limit");
    }
    if (refused > 0) assert.ok(mayHave + opened.length + entered >= this.limit, "refused with a slot free");
  }

  async #admit(client: number): Promise<"entered" | "admitted" | "refused"> {
    const identity = {
      ...(await createIdentity(this.#store, this.#key)),
      requestId: createId("req", this.#nowMs),
    };
    const { requestId } = identity;
    const { decision, isEntered } = await admitKnown(this.#store, this.#key, { requestId });
    if (decision !== "admitted") return "refused";
    this.#clients.set(client, { identity, state: { is: "admitted", isEntered, atMs: this.#nowMs } });
    return isEntered ? "entered" : "admitted";
  }

  /** The client goes while it waits for its admission: the worker is told. */
  async #cancel(client: number, { identity }: Running): Promise<void> {
    this.#clients.delete(client);
    await this.#store.removeAbandoned(identity.organizationId, [identity]);
  }

  /** The client goes before its body has come: nobody is told. */
  #vanish(client: number, { state }: Running): void {
    this.#clients.delete(client);
    if (state.is !== "admitted" || !state.isEntered) return;
    this.#abandonedUntilMs.push(state.atMs + ENTERED_IN_FLIGHT_MS);
  }

  async #upload(client: number, one: Running, isRepeated: boolean): Promise<"begun" | "opened" | "refused"> {
    const { identity, state } = one;
    const isYoung = state.is === "admitted" && this.#nowMs - state.atMs <= MAX_ADMISSION_AGE_MS;
    if (isYoung && state.isEntered) {
      one.state = { is: "running", hasRecord: false };
      return "begun";
    }
    const open = (): Promise<OpenRecordResult> => this.#store.openRecord(openRecordInput(identity));
    const results = await Promise.all(isRepeated ? [open(), open()] : [open()]);
    if (results.some(({ outcome }) => outcome === "opened")) {
      one.state = { is: "running", hasRecord: true };
      return "opened";
    }
    assert.deepEqual(new Set(results.map(({ outcome }) => outcome)), new Set(["concurrency_limited"]));
    this.#clients.delete(client);
    await this.#store.removeAbandoned(identity.organizationId, [identity]);
    return "refused";
  }

  async #end(client: number, { identity, state }: Running, isRepeated: boolean): Promise<void> {
    const isSingleCharge = state.is === "running" && !state.hasRecord ? true : undefined;
    this.#clients.delete(client);
    const charge = chargeInput(identity, 5, 7n, { final: FINAL, isSingleCharge });
    const send = (): Promise<unknown> => this.#store.charge(charge);
    await Promise.all(isRepeated ? [send(), send()] : [send()]);
    // What was sent before and comes late, from a spool or another connection.
    this.#sent.push(send, () => this.#store.charge(chargeInput(identity, 3, 5n)));
    this.#sent.push(() => this.#store.renew(identity.organizationId, [identity]));
  }

  #die(one: Running): void {
    if (one.state.is === "running" && one.state.hasRecord) one.state = { is: "lost" };
  }

  /** Workers give signs of life meanwhile: the first charge of what has no record, renewals of what has one. */
  async #wait(milliseconds: number): Promise<void> {
    this.#advance(Math.min(milliseconds, 1_000));
    const running = this.#in("running");
    const begun = running.filter(({ state }) => state.is === "running" && !state.hasRecord);
    if (milliseconds < 1_000) return;
    for (const one of begun) {
      const opened = { ...one.identity, floorMicrocents: 0n, floorInputTokens: 0 };
      await this.#store.charge(openingCharge(opened));
      one.state = { is: "running", hasRecord: true };
    }
    this.#advance(milliseconds - 1_000);
    const identities = running.map(({ identity }) => identity);
    await this.#store.renew(this.#key.organizationId, identities);
  }

  async #reap(): Promise<void> {
    for (const overdue of await this.#store.listOverdue(this.#key.organizationId, 100)) {
      if ((await this.#store.close(overdue)) !== "closed") continue;
      const closed = [...this.#clients].find(([, { identity }]) => identity.requestId === overdue.requestId);
      assert.equal(closed?.[1].state.is, "lost", "a request was closed whose worker lives");
      if (closed !== undefined) this.#clients.delete(closed[0]);
    }
  }

  #advance(milliseconds: number): void {
    this.#nowMs += milliseconds;
    this.#clock.set(BigInt(this.#nowMs) * 1_000n);
  }

  #mayHaveSlots(): number {
    this.#abandonedUntilMs = this.#abandonedUntilMs.filter((untilMs) => untilMs > this.#nowMs);
    const entered = this.#in("admitted").filter(
      ({ state }) =>
        state.is === "admitted" && state.isEntered && state.atMs + ENTERED_IN_FLIGHT_MS > this.#nowMs,
    );
    const { length: running } = this.#in("running");
    return running + this.#in("lost").length + entered.length + this.#abandonedUntilMs.length;
  }

  #in(is: State["is"]): Running[] {
    return [...this.#clients.values()].filter(({ state }) => state.is === is);
  }

  /** One of the two connections, in turn. */
  get #store(): Store {
    this.#turn += 1;
    const store = this.#stores[this.#turn % this.#stores.length];
    assert.ok(store !== undefined);
    return store;
  }
}
