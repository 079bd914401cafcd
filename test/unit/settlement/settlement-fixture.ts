/** A settlement on a store that records what it is asked. */
import type { Model } from "../../../src/data-path/catalog/catalog.ts";
import type { Admission } from "../../../src/data-path/limits/admission.ts";
import type { UpstreamForm } from "../../../src/data-path/settlement/tokens/worst-case.ts";
import {
  type OpenInput,
  Settlement,
  type SettlementOptions,
} from "../../../src/data-path/settlement/settlement.ts";
import { TokenEstimator } from "../../../src/data-path/settlement/tokens/token-estimator.ts";
import type { ChangedOutcome, RecordedRequest } from "../../../src/shared/stored/reporting.ts";
import type {
  ChargeInput,
  EnteredRequest,
  OpenRecordInput,
  OpenRecordResult,
} from "../../../src/shared/stored/settlement.ts";
import type { ClientRequest } from "../../../src/data-path/translation/client-protocol.ts";
import { IDENTITY, PRICE } from "./account-fixture.ts";
import { createSafeties } from "./safeties-fixture.ts";

export const ADMISSION: Admission = {
  identity: {
    requestId: "req_01a1fbdf-a29c-790a-a491-cbfe2a229b51",
    route: IDENTITY.route,
    month: IDENTITY.month,
    day: IDENTITY.day,
    owners: undefined,
    tags: undefined,
    session: undefined,
  },
  caller: {
    organizationId: IDENTITY.organizationId,
    organizationName: "Acme",
    keyId: IDENTITY.keyId,
    keyName: "ci",
    currency: "USD",
    models: null,
    modelNames: null,
    tagsEndUser: false,
  },
  limits: {
    isStrict: false,
    isEntered: false,
    shrinksOnCap: false,
    areSessionsCapped: false,
    concurrencyLimit: null,
    sessionBudgetCents: null,
    takenTokens: null,
  },
  rate: { limit: 600, capacity: 60, remaining: 59, resetMs: 100, timeMs: 0, tokens: [] },
  endpoint: "chat_completions",
  protocol: "chat",
  resource: null,
  headroom: [],
};

type Group = "identity" | "caller" | "limits";
/** Changed facts, by their group. */
export type AdmissionChanges = Partial<Omit<Admission, Group>> & {
  readonly [Name in Group]?: Partial<Admission[Name]>;
};

export function changeAdmission(admission: Admission, changes: AdmissionChanges): Admission {
  return {
    ...admission,
    ...changes,
    identity: { ...admission.identity, ...changes.identity },
    caller: { ...admission.caller, ...changes.caller },
    limits: { ...admission.limits, ...changes.limits },
  };
}

const MODEL: Partial<Model> = {
  id: IDENTITY.model,
  prices: new Map([["USD", [PRICE]]]),
  contextWindow: 1_000,
  maxOutputTokens: 10,
  promptOverheadTokens: 0,
  promptOverheadTokensWithTools: 0,
};

const REQUEST: Partial<ClientRequest> = {
  model: "acme/echo",
  promptSize: () => ({
    textBytes: 50,
    visibleTextBytes: 50,
    messages: 1,
    hasMedia: false,
    hasTools: false,
    predictionBytes: 0,
    isWhole: true,
  }),
  maxOutputTokens: null,
  choices: 1,
  prompts: 1,
  promptTokens: null,
  serviceTier: null,
  tierField: "service_tier",
  serverTools: [],
};

/** What `open` is asked for; facts of the admission as given. */
export function createOpenInput(
  admission: AdmissionChanges = {},
  bodyBytes = 400,
  upstreamBytes = bodyBytes,
): OpenInput {
  return {
    admission: changeAdmission(ADMISSION, admission),
    model: MODEL as Model,
    requestedModel: IDENTITY.model,
    request: REQUEST as ClientRequest,
    bodyBytes,
    upstream: createUpstreamForm(upstreamBytes),
  };
}

/** A body that is as long with every limit. */
export function createUpstreamForm(byteLength: number): UpstreamForm {
  return {
    byteLength,
    becomeStrict: () => undefined,
    lengthAt: () => byteLength,
    lowerOutput: () => undefined,
    thinkingBudget: 0,
  };
}

export interface StoreScript {
  readonly openRecord?: (input: OpenRecordInput) => Promise<OpenRecordResult>;
  readonly charge?: (input: ChargeInput) => Promise<{ outcome: "applied" }>;
}

export function createSettlement(script: StoreScript = {}, options: Partial<SettlementOptions> = {}) {
  const seen = {
    opened: [] as OpenRecordInput[],
    charges: [] as ChargeInput[],
    forgotten: [] as string[],
    left: [] as EnteredRequest[],
    recorded: [] as RecordedRequest[],
    changed: [] as ChangedOutcome[],
    lines: [] as string[],
    isLogClosed: false,
  };
  const openRecord = (input: OpenRecordInput): Promise<OpenRecordResult> => {
    seen.opened.push(input);
    return script.openRecord?.(input) ?? Promise.resolve({ outcome: "opened" });
  };
  const settlement = new Settlement({
    ...createSafeties(),
    dashboard: { baseUrl: null, contact: null },
    estimator: new TokenEstimator({ count: () => Promise.resolve(null) }),
    clock: { nowMs: () => Date.UTC(2026, 10, 21), monotonicMs: () => performance.now() },
    logger: { warn: () => undefined, error: () => undefined },
    requestLog: {
      write: (line) => void seen.lines.push(line),
      close: async () => {
        seen.isLogClosed = true;
        await Promise.resolve();
      },
    },
    ...options,
    patient: { openRecord },
    store: {
      openRecord,
      charge: (input) => {
        seen.charges.push(input);
        return script.charge?.(input) ?? Promise.resolve({ outcome: "applied" });
      },
      renew: () => Promise.resolve([]),
      deleteRecords: (_, ids) => {
        seen.forgotten.push(...ids);
        return Promise.resolve(ids.length);
      },
      removeAbandoned: (_, requests) => {
        seen.left.push(...requests);
        return Promise.resolve();
      },
      recordRequest: (request) => {
        seen.recorded.push(request);
        return Promise.resolve();
      },
      changeOutcome: (outcome) => {
        seen.changed.push(outcome);
        return Promise.resolve();
      },
    },
  });
  return { settlement, seen };
}
