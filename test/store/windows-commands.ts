/** Commands of requests, what a store answers to them, and what a model does, in the same words. */
import type { Store } from "../../src/shared/stored/store.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { BilledRequest } from "../../src/shared/stored/settlement.ts";
import { admitInput, chargeInput, FINAL, openRecordInput, known, MODEL, ROUTE } from "./fixture.ts";
import type { ModelLimit, WindowsModel } from "./windows-model.ts";
import type { OwnersUnderTest } from "./windows-owners.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";

export type Command =
  | { readonly kind: "admit"; readonly key: number }
  | { readonly kind: "open"; readonly request: number; readonly worst: bigint; readonly floor: bigint }
  | ChargeCommand;

export interface ChargeCommand {
  readonly kind: "charge";
  readonly request: number;
  readonly sequence: number;
  readonly total: bigint;
  /** Of what is not final. */
  readonly estimate: bigint;
  readonly isFinal: boolean;
  /** Its owner takes it for the request's only command, rightly or not. */
  readonly isSingleCharge: boolean;
}

export type Answer = Readonly<Record<string, unknown>>;

export interface Asked {
  readonly answer: Answer;
  /** Of a request that was admitted. */
  readonly identity: BilledRequest | null;
}

/** @param identities Of the requests that commands name by their places. */
export async function ask(
  store: Store,
  owners: OwnersUnderTest,
  identities: readonly BilledRequest[],
  command: Command,
): Promise<Asked> {
  if (command.kind === "admit") return askAdmission(store, owners, command.key);
  const identity = identities[command.request]!;
  if (command.kind === "open") {
    const { worst, floor } = command;
    const amounts = { worstCaseMicrocents: worst, floorMicrocents: floor };
    const opened = await store.openRecord(openRecordInput(identity, amounts));
    const { outcome } = opened;
    if (!("figures" in opened) || opened.outcome === "session_cap_reached") {
      return { answer: { outcome }, identity: null };
    }
    const { spentMicrocents, heldMicrocents, capCents, raisedCents, period } = opened.figures;
    const figures = {
      spent: spentMicrocents,
      held: heldMicrocents,
      cents: capCents,
      raised: raisedCents,
    };
    return { answer: { outcome, period, ...figures }, identity: null };
  }
  const { sequence, total, estimate, isFinal, isSingleCharge } = command;
  const tokens = { ...NO_TOKENS, inputTokens: 1 };
  const { outcome } = await store.charge(
    chargeInput(identity, sequence, total, {
      tokens,
      estimate: isFinal ? null : { totalMicrocents: estimate, tokens },
      final: isFinal ? FINAL : null,
      isSingleCharge: isFinal && isSingleCharge ? true : undefined,
    }),
  );
  return { answer: { outcome }, identity: null };
}

async function askAdmission(store: Store, owners: OwnersUnderTest, key: number): Promise<Asked> {
  const input = admitInput(owners.keys[key]!);
  const { decision, reachedCap, caps, user, group, month, day, organization } = known(
    await store.admit(input),
  );
  const answer = {
    decision,
    reached: reachedCap === null ? null : showLimit(reachedCap.spentMicrocents, reachedCap),
    caps: sortRows(caps.map((cap) => showLimit(cap.spentMicrocents, cap))),
    user: user === null ? null : owners.subjectOf(user.id),
    group: group === null ? null : owners.subjectOf(group.id),
  };
  if (decision !== "admitted") return { answer, identity: null };
  const { organizationId, keyId, requestId } = input;
  const admitted = { organizationId, keyId, requestId, month, day, model: MODEL, route: ROUTE };
  const ofOwners = formatOwnerIds({ userId: user?.id ?? null, groupId: group?.id ?? null });
  return { answer, identity: { ...admitted, currency: organization.currency, owners: ofOwners } };
}

/** Whether a cap refuses the request. */
export function isRefusal({ decision, outcome }: Answer): boolean {
  return String(decision ?? outcome).endsWith("_cap_reached");
}

/** Gives a model the command. Any of these may be its answer. */
export function answersOf(model: WindowsModel, command: Command): readonly Answer[] {
  if (command.kind === "charge") return [{ outcome: model.charge(command) }];
  if (command.kind === "admit") return [admissionOf(model, command.key)];
  const opened = model.openRecord(command.request, command.worst, command.floor);
  if (typeof opened === "string") return [{ outcome: opened }];
  return opened.map(({ scope, period, spent, held: inFlight, cents, raised }) => {
    const figures = { spent, held: inFlight, cents, raised };
    return { outcome: `${scope}_cap_reached`, period, ...figures };
  });
}

function admissionOf(model: WindowsModel, key: number): Answer {
  const { user, group } = model.ownersOf(key);
  const met = model.capsOf(model.subjectsOf({ key, user, group }), model.nowMs);
  const cap = model.admit(key);
  if (cap === null) model.enter(key);
  return {
    decision: cap === null ? "admitted" : `${cap.scope}_cap_reached`,
    reached: cap === null ? null : showLimit(cap.spent, cap),
    caps: sortRows(met.map((each) => showLimit(each.spent, each))),
    user: user === null ? null : `user ${user}`,
    group: group === null ? null : `group ${group}`,
  };
}

type Shown = Pick<ModelLimit, "scope" | "period" | "cents"> & {
  readonly kind?: string;
  /** The model's word for it, and the store's. */
  readonly raised?: number;
  readonly raisedCents?: number;
};

export function showLimit(spent: bigint, { scope, period, kind, cents, raised, raisedCents }: Shown): Answer {
  return { scope, period, kind: kind ?? "cap", cents, raised: raised ?? raisedCents, spent };
}

export function sortRows(rows: readonly Answer[]): readonly Answer[] {
  const nameOf = (row: Answer) => [row["scope"], row["period"], row["kind"]].join(" ");
  return rows.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}
