/** A worker that has seen a key, and a Redis that goes away and comes back. */
import { createGraceAdmission } from "../../../src/data-path/grace/grace-admission.ts";
import { GraceOutage } from "../../../src/data-path/grace/grace-outage.ts";
import { GraceSpend } from "../../../src/data-path/grace/grace-spend.ts";
import type { AdmitInput, KnownKeyResult, ApplicableCap } from "../../../src/shared/stored/admission.ts";

export const CENT = 1_000_000n;
export const MINUTE_MS = 60_000;

export const INPUT: AdmitInput = {
  organizationId: "org_1",
  keyId: "key_1",
  presentedHash: "a".repeat(64),
  requestId: "req_1",
  route: "POST /v1/chat/completions",
  bucket: "requests",
  metered: true,
  promptTokens: 0,
};

export type Changes = Partial<Omit<KnownKeyResult, "key" | "organization">> & {
  readonly key?: Partial<KnownKeyResult["key"]>;
  readonly organization?: Partial<KnownKeyResult["organization"]>;
};

export function createResult(changes: Changes): KnownKeyResult {
  return {
    decision: "admitted",
    timeMs: Date.UTC(2026, 10, 21, 12),
    month: "2026-11",
    day: "2026-11-21",
    user: null,
    group: null,
    bucket: { remaining: 59, capacity: 60, resetMs: 100, retryAfterSeconds: 0 },
    concurrentRequests: null,
    isEntered: true,
    areSessionsCapped: false,
    caps: [],
    reachedCap: null,
    isBehind: false,
    tokenBuckets: [],
    takenTokens: null,
    tokenLimit: null,
    ...changes,
    key: {
      id: "key_1",
      name: "ci",
      display: "sk-igw-…a1B2",
      countCachedTokens: null,
      requestsPerMinute: 600,
      allowedModels: null,
      maxConcurrentRequests: null,
      expiresAtMs: null,
      defaultTags: null,
      onCap: null,
      ...changes.key,
    },
    organization: {
      id: "org_1",
      name: "Acme",
      currency: "USD",
      countCachedTokens: false,
      strictCaps: false,
      onCap: "refuse",
      endUserTag: false,
      hideAmounts: false,
      budgetHeaders: "near_cap",
      modelNames: { aliases: {}, defaultModel: null },
      ...changes.organization,
    },
  };
}

export function createCap(changes: Partial<ApplicableCap>): ApplicableCap {
  const none = { raisedCents: 0, spentMicrocents: 0n, ownMicrocents: 0n };
  return { scope: "key", period: "month", cents: 100, ...none, ...changes };
}

/** A worker that has seen the key once, unless told otherwise; then Redis goes away. */
export async function createOutage(
  changes: Changes = {},
  options: { shares?: number; graceMs?: number; isSeen?: boolean } = {},
) {
  let nowMs = 0;
  let isAway = false;
  let inFlight = 0;
  let isBehind = false;
  let answer = createResult(changes);
  let failure: Error = new Error("Command timed out");
  const clock = { monotonicMs: () => nowMs };
  const warnings: string[] = [];
  const outage = new GraceOutage({
    clock,
    graceMs: options.graceMs ?? MINUTE_MS,
    logger: { warn: (_fields, message) => void warnings.push(message) },
  });
  const spend = new GraceSpend();
  const left: string[] = [];
  const patience: boolean[] = [];
  const ask = (isPatient: boolean) => async () => {
    patience.push(isPatient);
    if (isAway) throw failure;
    const { day, caps } = answer;
    const isBehind = spend.isBehind(INPUT.organizationId, day);
    const ownOf = ({ scope, period }: ApplicableCap) =>
      spend.inReply(INPUT.organizationId, { period, day, subjectId: answer[scope]?.id ?? "" });
    return { ...answer, isBehind, caps: caps.map((cap) => ({ ...cap, ownMicrocents: ownOf(cap) })) };
  };
  const admit = createGraceAdmission({
    abandon: ({ requestId }) => void left.push(requestId),
    admit: ask(false),
    admitPatiently: ask(true),
    hasUnsentCharges: () => isBehind,
    outage,
    spend,
    clock,
    workerCount: () => options.shares ?? 1,
    countInFlight: () => inFlight,
  });
  if (options.isSeen !== false) await admit(INPUT);
  isAway = true;
  return {
    spend,
    outage,
    warnings,
    left,
    /** Of each question to Redis, whether it waits as long as Envoy's call allows. */
    patience,
    wait: (ms: number) => (nowMs += ms),
    comeBack: () => (isAway = false),
    setBehind: (is: boolean) => (isBehind = is),
    answerWith: (changes: Changes) => (answer = createResult(changes)),
    goAway: () => (isAway = true),
    failWith: (error: Error) => (failure = error),
    setInFlight: (count: number) => (inFlight = count),
    admit: async (input: Partial<AdmitInput> = {}) => {
      const result = await admit({ ...INPUT, ...input });
      if (result.decision === "unknown_key") throw new Error("unknown key");
      return result;
    },
    decide: async (input: Partial<AdmitInput> = {}) => {
      const { decision } = await admit({ ...INPUT, ...input });
      return decision;
    },
  };
}
