/** Runs a plan against stores and models of what they must say. */
import { strict as assert } from "node:assert";
import { inspect, isDeepStrictEqual } from "node:util";
import type { Limit, LimitPeriod } from "../../src/shared/settings/limits.ts";
import { MAX_RAISES } from "../../src/shared/settings/raises.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import type { BilledRequest } from "../../src/shared/stored/settlement.ts";
import type { TimedStore } from "./clock-fixture.ts";
import { DAY_MS, windowOf } from "./windows-calendar.ts";
import { checkAlerts, checkCounters, checkLimits, listHeld } from "./windows-check.ts";
import {
  answersOf,
  ask,
  type Asked,
  type ChargeCommand,
  type Command,
  isRefusal,
} from "./windows-commands.ts";
import {
  HOLD_DEADLINE_MS,
  type ModelOwner,
  type ModelSettings,
  type Subject,
  WindowsModel,
} from "./windows-model.ts";
import { OwnersUnderTest } from "./windows-owners.ts";

/** Commands name one of the last so many requests, which are often in flight. */
export const NAMED_REQUESTS = 5;
/** A body comes sooner, a charge comes sooner, and someone looks sooner for what a dead owner has left. */
const LATEST_RECORD_MS = DAY_MS;
const LATEST_RENEWAL_MS = 4 * DAY_MS;
const LATEST_CHARGE_MS = 6 * DAY_MS;
/** Figures of its first month are kept so long. */
const LONGEST_PLAN_MS = 60 * DAY_MS;

export interface LimitsChange {
  readonly subject: Subject;
  readonly limits: readonly Limit[];
}

interface RaiseStep {
  readonly kind: "raise";
  readonly subject: Subject;
  readonly period: LimitPeriod;
  readonly cents: number;
  readonly forMs: number;
}

interface MoveStep {
  readonly kind: "move";
  /** A key or a user. */
  readonly subject: Subject;
  /** Of a key. */
  readonly user: number | null;
  readonly group: number | null;
}

/** Limits are set while requests are charged, each by its only command. */
interface BeginStep {
  readonly kind: "begin";
  readonly changes: readonly LimitsChange[];
  readonly charges: readonly {
    readonly total: bigint;
    /** Commands that its worker waits for first, so that it comes while counters begin. */
    readonly afterCommands: number;
  }[];
}

type OwnerStep =
  | ({ readonly kind: "limits" } & LimitsChange)
  | ({ readonly kind: "members" } & LimitsChange)
  /** Of a user or a group. */
  | { readonly kind: "delete"; readonly subject: Subject }
  | { readonly kind: "takeBack"; readonly subject: Subject; readonly raise: number }
  | RaiseStep
  | MoveStep;

export type Step =
  /** At once, by two workers in turn. A request is named by how many came after it. */
  | { readonly kind: "commands"; readonly commands: readonly Command[] }
  | BeginStep
  | { readonly kind: "renew"; readonly request: number }
  | { readonly kind: "close" }
  | { readonly kind: "look" }
  | OwnerStep
  | { readonly kind: "correct"; readonly key: number | null; readonly amount: bigint }
  | { readonly kind: "settings"; readonly isStrict: boolean; readonly areDayAlertsAll: boolean };

export type Wait =
  | { readonly until: LimitPeriod; readonly offsetMs: number }
  | { readonly milliseconds: number };

export interface StepOf {
  readonly organization: number;
  /** Who takes it, or its first command. */
  readonly worker: number;
  readonly step: Step;
}

export interface Plan {
  readonly startMs: number;
  readonly organizations: readonly ModelSettings[];
  readonly steps: readonly (Wait | StepOf)[];
}

/**
 * Returns what is still held when all requests have ended.
 * @throws AssertionError where a store and its model differ.
 */
export async function runPlan(timed: TimedStore, workers: readonly Store[], plan: Plan): Promise<string[]> {
  const runs: OrganizationRun[] = [];
  let nowMs = plan.startMs;
  const setClock = (timeMs: number): void => {
    nowMs = timeMs;
    timed.clock.set(BigInt(timeMs) * 1000n);
    for (const { model } of runs) model.nowMs = timeMs;
  };
  const endInFlight = async (): Promise<void> => {
    setClock(nowMs + HOLD_DEADLINE_MS);
    for (const run of runs) await run.closeOverdue(0);
  };
  setClock(nowMs);
  for (const settings of plan.organizations) {
    runs.push(await OrganizationRun.create(timed, workers, settings, nowMs));
  }
  for (const each of plan.steps) {
    if ("step" in each) {
      await runs[each.organization % runs.length]!.apply(each.step, each.worker);
      continue;
    }
    const wanted =
      "until" in each ? windowOf(each.until, nowMs).endMs + each.offsetMs : nowMs + each.milliseconds;
    const untilMs = Math.max(nowMs, Math.min(wanted, plan.startMs + LONGEST_PLAN_MS));
    if (untilMs - nowMs > LATEST_CHARGE_MS - LATEST_RENEWAL_MS) await endInFlight();
    setClock(untilMs);
    if (runs.some(({ model }) => model.hasOpenSince(nowMs - LATEST_RENEWAL_MS))) await endInFlight();
  }
  await endInFlight();
  const held = [];
  for (const run of runs) held.push(...(await run.checkEnd()));
  return held;
}

/** A command of a request whose place is known. */
interface Sent {
  readonly command: Command;
  readonly store: Store;
}

class OrganizationRun {
  model: WindowsModel;
  readonly #timed: TimedStore;
  readonly #workers: readonly Store[];
  readonly #owners: OwnersUnderTest;
  readonly #identities: BilledRequest[] = [];
  #made = 0;

  private constructor(
    timed: TimedStore,
    workers: readonly Store[],
    owners: OwnersUnderTest,
    model: WindowsModel,
  ) {
    this.#timed = timed;
    this.#workers = workers;
    this.#owners = owners;
    this.model = model;
  }

  static async create(
    timed: TimedStore,
    workers: readonly Store[],
    settings: ModelSettings,
    nowMs: number,
  ): Promise<OrganizationRun> {
    const owners = await OwnersUnderTest.create(timed.store, settings);
    const run = new OrganizationRun(timed, workers, owners, new WindowsModel(settings, nowMs));
    for (const [subject, changes] of Object.entries(settings.members)) await run.#change(subject, changes, 0);
    return run;
  }

  async apply(step: Step, worker: number): Promise<void> {
    if (step.kind === "commands") return this.#sendAll(step.commands, worker);
    if (step.kind === "begin") return this.#begin(step);
    if (step.kind === "renew") return this.#renew(step.request, worker);
    if (step.kind === "close") return this.closeOverdue(worker);
    if (step.kind === "look") return this.#look();
    if (step.kind === "correct") return this.#correct(step.key, step.amount, worker);
    if (step.kind === "settings") {
      const { isStrict, areDayAlertsAll } = step;
      Object.assign(this.model, { isStrict, areDayAlertsAll });
      const changes = { strictCaps: isStrict, dayAlerts: areDayAlertsAll ? "all" : "last" } as const;
      await this.#storeOf(worker).changeOrganization(this.#owners.organizationId, changes, null);
      return this.model.change("organization", {});
    }
    if (this.model.owner(step.subject).isDeleted) return;
    if (step.kind === "delete") {
      await this.#owners.delete(this.#storeOf(worker), step.subject);
      this.model.owner(step.subject).isDeleted = true;
      return;
    }
    return this.#change(step.subject, this.#changesOf(step), worker);
  }

  /** When nothing is in flight any more. Returns what is held all the same. */
  async checkEnd(): Promise<string[]> {
    assert.ok(this.model.requests.every(({ state }) => state !== "open"));
    await this.#look();
    await checkAlerts(this.#timed, this.#owners, this.model);
    return listHeld(this.#timed, this.#owners);
  }

  async closeOverdue(worker: number): Promise<void> {
    const store = this.#storeOf(worker);
    const closed = new Set<number>();
    for (const request of await store.listOverdue(this.#owners.organizationId, 1_000)) {
      const outcome = await store.close(request);
      assert.equal(outcome, request.record === null ? "gone" : "closed");
      if (outcome !== "closed") continue;
      closed.add(this.#identities.findIndex(({ requestId }) => requestId === request.requestId));
    }
    assert.deepEqual(closed, new Set(this.model.overdue()));
    for (const index of closed) this.model.close(index);
  }

  async #look(): Promise<void> {
    await checkCounters(this.#timed, this.#owners, this.model);
    await checkLimits(this.#timed, this.#owners, this.model);
  }

  #changesOf(step: Exclude<OwnerStep, { kind: "delete" }>): Partial<ModelOwner> {
    if (step.kind === "limits") return { limits: step.limits };
    if (step.kind === "members") return { memberLimits: step.limits };
    if (step.kind === "move") {
      const user = step.user !== null && this.model.owner(`user ${step.user}`).isDeleted ? null : step.user;
      const group =
        step.group !== null && this.model.owner(`group ${step.group}`).isDeleted ? null : step.group;
      return step.subject.startsWith("key") ? { user, group } : { group };
    }
    // As the API makes them and takes them back: those that have ended go.
    const { nowMs } = this.model;
    const live = this.model.owner(step.subject).raises.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
    if (step.kind === "takeBack") return { raises: live.filter((_, place) => place !== step.raise) };
    const { period, cents, forMs } = step;
    const made = { id: `raise_${(this.#made += 1)}`, period, cents, expiresAtMs: nowMs + forMs };
    return live.length < MAX_RAISES ? { raises: [...live, made] } : {};
  }

  async #change(subject: Subject, changes: Partial<ModelOwner>, worker: number): Promise<void> {
    await this.#owners.change(this.#storeOf(worker), subject, changes);
    this.model.change(subject, changes);
  }

  async #correct(key: number | null, amountMicrocents: bigint, worker: number): Promise<void> {
    const { organizationId, keys } = this.#owners;
    const correctionId = `correction_${(this.#made += 1)}`;
    const keyId = key === null ? null : keys[key]!.keyId;
    await this.#storeOf(worker).correct({ organizationId, keyId, correctionId, amountMicrocents });
    this.model.correct(key, amountMicrocents);
  }

  async #renew(fromLast: number, worker: number): Promise<void> {
    const request = this.#find(fromLast);
    if (request === null || this.#isTooLate({ kind: "renew" }, request)) return;
    const renewed = [this.#identities[request]!];
    const outcomes = await this.#storeOf(worker).renew(this.#owners.organizationId, renewed);
    assert.deepEqual(outcomes, [this.model.renew(request)]);
  }

  /** All at once. The answers must be those of the model in one order or another. */
  async #sendAll(commands: readonly Command[], worker: number): Promise<void> {
    const sent = this.#resolve(commands, worker);
    const all = await Promise.all(sent.map(async (each) => ({ ...each, ...(await this.#ask(each)) })));
    for (const order of permutationsOf(all)) {
      const model = all.length === 1 ? this.model : this.model.clone();
      const isSo = order.every(({ command, answer }) => {
        const possible = answersOf(model, command);
        const isAmong = possible.some((each) => isDeepStrictEqual(each, answer));
        if (all.length === 1 && !isAmong) assert.deepEqual(answer, possible[0]);
        return isAmong;
      });
      if (!isSo) continue;
      this.model = model;
      this.#identities.push(...order.flatMap(({ identity }) => identity ?? []));
      // Who is refused by a cap has been told of it by then.
      if (order.some(({ answer }) => isRefusal(answer))) await checkAlerts(this.#timed, this.#owners, model);
      return;
    }
    const answers = all.map(({ command, answer }) => inspect({ command, answer }, { breakLength: Infinity }));
    assert.fail(`the model has these answers in no order: ${answers.join(" ")}`);
  }

  #ask({ command, store }: Sent): Promise<Asked> {
    return ask(store, this.#owners, this.#identities, command);
  }

  #resolve(commands: readonly Command[], worker: number): Sent[] {
    const seen = new Set<number>();
    return commands.flatMap((command, place): Sent[] => {
      const store = this.#storeOf(worker + place);
      if (command.kind === "admit") return [{ command, store }];
      const request = this.#find(command.request);
      if (request === null || seen.has(request) || this.#isTooLate(command, request)) return [];
      // Which alerts fire would go by the order.
      const isAlone = commands.length === 1;
      if (!isAlone && command.kind === "charge" && this.#lowers({ ...command, request })) return [];
      seen.add(request);
      return [{ command: { ...command, request }, store }];
    });
  }

  #lowers(charge: ChargeCommand): boolean {
    const total = this.model.totalAfter(charge);
    return total !== null && total < this.model.requests[charge.request]!.charged;
  }

  #find(fromLast: number): number | null {
    const count = this.model.requests.length;
    return count === 0 ? null : count - 1 - (fromLast % Math.min(NAMED_REQUESTS, count));
  }

  #isTooLate({ kind }: Pick<Command | Step, "kind">, request: number): boolean {
    const { admittedMs, state } = this.model.requests[request]!;
    const age = this.model.nowMs - admittedMs;
    if (kind === "open") return age >= LATEST_RECORD_MS;
    // A charge without a record makes one, which is in flight.
    return age >= (kind === "charge" && state !== "admitted" ? LATEST_CHARGE_MS : LATEST_RENEWAL_MS);
  }

  /** What fires of limits that change goes by the order, but for what is reached in the windows of now. */
  async #begin({ changes: wanted, charges }: BeginStep): Promise<void> {
    const changes = wanted.filter(({ subject }) => !this.model.owner(subject).isDeleted);
    const sent: { command: ChargeCommand; store: Store; afterCommands: number }[] = [];
    for (const [place, { total, afterCommands }] of charges.entries()) {
      const request = this.model.requests.length;
      await this.#sendAll([{ kind: "admit", key: place % this.#owners.keys.length }], place);
      if (this.model.requests.length === request) continue;
      const charge = { request, sequence: 1, total, estimate: 0n, isFinal: true, isSingleCharge: true };
      sent.push({ command: { kind: "charge", ...charge }, store: this.#storeOf(place), afterCommands });
    }
    const charge = async (each: (typeof sent)[number]): Promise<void> => {
      for (let count = 0; count < each.afterCommands; count += 1) await each.store.timeMs();
      await this.#ask(each);
    };
    await Promise.all([
      ...changes.map(({ subject, limits }, place) =>
        this.#owners.change(this.#storeOf(place), subject, { limits }),
      ),
      ...sent.map((each) => charge(each)),
    ]);
    const { model } = this;
    const stays = ({ subject }: { readonly subject: Subject }): boolean =>
      !changes.some((change) => change.subject === subject);
    for (const { limits } of changes) model.count({ limits });
    for (const { command } of sent) model.charge(command, stays);
    for (const { subject, limits } of changes) model.owner(subject).limits = limits;
    for (const { command } of sent) {
      const request = model.requests[command.request]!;
      model.fire(model.limitsOf(model.subjectsOf(request)), request.admittedMs, stays);
    }
    for (const { subject, limits } of changes) model.change(subject, { limits });
  }

  #storeOf(worker: number): Store {
    return this.#workers[worker % this.#workers.length]!;
  }
}

function permutationsOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, place) =>
    permutationsOf(items.toSpliced(place, 1)).map((others) => [item, ...others]),
  );
}
