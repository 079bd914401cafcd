import { strict as assert } from "node:assert";
import { inflightKey } from "../../src/data-path/store/redis/keys.ts";
import type { OverdueRequest, RequestIdentity } from "../../src/shared/stored/settlement.ts";
import type { TimedStore } from "./clock-fixture.ts";
import { chargeInput, FINAL, openRecordInput, readHeld, type TestKey } from "./fixture.ts";
import { FLOORS, SpendModel, type Step, WORST_CASES } from "./spend-model.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";

export interface RunSettings {
  readonly strictCaps: boolean;
  /** Of each key. */
  readonly maxConcurrentRequests: number | null;
}

/** The commands of some requests of two keys, sent to the store and to the model. */
export class SpendRun {
  readonly model: SpendModel;
  readonly #timed: TimedStore;
  readonly #identities: readonly RequestIdentity[];
  readonly #sent: Step[] = [];
  readonly #forgotten = new Set<number>();
  #seen: readonly OverdueRequest[] = [];

  constructor(timed: TimedStore, identities: readonly RequestIdentity[], settings: RunSettings) {
    this.#timed = timed;
    this.#identities = identities;
    this.model = new SpendModel(settings.strictCaps, settings.maxConcurrentRequests);
  }

  async apply(each: Step): Promise<void> {
    const { store, clock } = this.#timed;
    const { model } = this;
    if (each.kind === "wait") {
      model.now += each.milliseconds;
      clock.set(BigInt(model.now) * 1000n);
      return;
    }
    if (each.kind === "close") return this.#close(each.stale);
    if (each.kind === "replay") {
      for (const sent of this.#sent.slice()) await this.apply(sent);
      return;
    }
    if (each.kind === "charges") {
      await Promise.all(each.charges.map((charge) => this.apply(charge)));
      return;
    }
    if (this.#forgotten.has(each.request)) return;
    const identity = this.#identities[each.request]!;
    if (each.kind === "forget") return this.#forget(each.request, identity);
    if (this.#sent.length < 40) this.#sent.push(each);
    if (each.kind === "open") {
      const { outcome } = await store.openRecord(
        openRecordInput(identity, {
          worstCaseMicrocents: WORST_CASES[each.request]!,
          floorMicrocents: FLOORS[each.request]!,
          floorInputTokens: each.request,
        }),
      );
      assert.equal(outcome, model.openRecord(each.request));
    }
    if (each.kind === "renew") {
      const [outcome] = await store.renew(identity.organizationId, [identity]);
      assert.equal(outcome, model.renew(each.request));
    }
    if (each.kind === "charge") {
      const tokens = { ...NO_TOKENS, inputTokens: each.tokens };
      const final = each.final ? FINAL : null;
      const estimate = each.final
        ? null
        : { totalMicrocents: each.estimate, tokens: { ...tokens, inputTokens: 2 * each.tokens } };
      const isSingleCharge = each.final && each.brief ? true : undefined;
      await store.charge(
        chargeInput(identity, each.sequence, each.total, { tokens, estimate, final, isSingleCharge }),
      );
      model.charge(each.request, each);
    }
  }

  async #close(stale: boolean): Promise<void> {
    const { store } = this.#timed;
    const { organizationId } = this.#identities[0]!;
    const indexOf = ({ requestId }: OverdueRequest): number =>
      this.#identities.findIndex((identity) => identity.requestId === requestId);
    const fresh = await store.listOverdue(organizationId, 100);
    assert.deepEqual(new Set(fresh.map(indexOf)), new Set(this.model.overdue()));
    const seen = stale ? this.#seen : fresh;
    this.#seen = fresh;
    for (const overdue of seen) await store.close(overdue);
    this.model.closeOverdue(seen.map(indexOf));
  }

  /** As its owner may: nothing of this request is on its way, and nothing comes after it. */
  async #forget(index: number, identity: RequestIdentity): Promise<void> {
    const record = this.model.records.get(index);
    if (record?.final !== true) return;
    await this.#timed.store.deleteRecords(identity.organizationId, [identity.requestId]);
    this.model.records.delete(index);
    this.#forgotten.add(index);
  }

  /** What Redis says of these keys now. */
  async read(keys: readonly TestKey[]) {
    const { store, client } = this.#timed;
    const { organizationId, month, day } = this.#identities[0]!;
    const spend = await store.readSpend(organizationId, month);
    const rows = await store.readUsageOfDay(organizationId, day);
    const sums = await store.readSumsOfDay(organizationId, day);
    const inFlight = await Promise.all(
      keys.map(({ keyId }) => client.zrange(inflightKey(organizationId, keyId), "0", "-1")),
    );
    const byKey = keys.map(({ keyId }, index) => {
      const row = rows.find((each) => each.keyId === keyId);
      return {
        inFlight: new Set(inFlight[index]),
        spent: spend.keyMicrocents.get(keyId) ?? 0n,
        spentInUsage: row?.costMicrocents ?? 0n,
        spentInSums: sums.find((each) => each.keyId === keyId)?.costMicrocents ?? 0n,
        input: row?.inputTokens ?? 0,
        requests: row?.requests ?? 0,
        estimated: row?.estimatedRequests ?? 0,
      };
    });
    const held = await readHeld(client, this.#identities[0]!, "organization");
    return { byKey, organization: spend.organizationMicrocents, held };
  }

  /** What the model says of them: usage always the same as spend. */
  expected(keys: readonly TestKey[]): Awaited<ReturnType<SpendRun["read"]>> {
    const byKey = keys.map(({ keyId }, position) => {
      const inFlight = this.model.inFlight(position).map((index) => this.#identities[index]?.requestId ?? "");
      const sum = {
        inFlight: new Set(inFlight),
        spent: 0n,
        spentInUsage: 0n,
        spentInSums: 0n,
        input: 0,
        requests: 0,
        estimated: 0,
      };
      for (const [index, identity] of this.#identities.entries()) {
        if (identity.keyId !== keyId) continue;
        const figures = this.model.figures(index);
        sum.spent += figures.spent;
        sum.spentInUsage += figures.spent;
        sum.spentInSums += figures.spent;
        sum.input += figures.input;
        sum.requests += figures.requests;
        sum.estimated += figures.estimated;
      }
      return sum;
    });
    const organization = byKey.reduce((sum, { spent }) => sum + spent, 0n);
    return { byKey, organization, held: this.model.held() };
  }
}
