/** What admits requests, with a Redis that answers as a test says. */
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { KeyDirectory } from "../../../src/data-path/auth/key-directory.ts";
import { createKey } from "../../../src/data-path/auth/key-format.ts";
import { DeferredAdmissions } from "../../../src/data-path/exchange/admission/deferred-admissions.ts";
import {
  type AdmissionServices,
  type CallState,
  createAdmitAgain,
  createAdmitRequest,
} from "../../../src/data-path/exchange/admission/admit-request.ts";
import type { IncomingRequest } from "../../../src/data-path/exchange/admission/request-head.ts";
import type { LocalEndpoints } from "../../../src/data-path/exchange/admission/local-endpoints.ts";
import type {
  AdmittedCap,
  AdmitInput,
  AdmitResult,
  KnownKeyResult,
} from "../../../src/shared/stored/admission.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";
import { createRecordingMeter } from "./meter-fixture.ts";

export const KEY = createKey();
const MAX_BODY_BYTES = 1_000_000;
export const ADMITTED: KnownKeyResult = {
  decision: "admitted",
  timeMs: Date.UTC(2026, 10, 21),
  month: "2026-11",
  day: "2026-11-21",
  key: {
    id: "key_1",
    name: "ci",
    display: "sk-igw-…1234",
    requestsPerMinute: 60,
    countCachedTokens: null,
    allowedModels: null,
    maxConcurrentRequests: null,
    expiresAtMs: null,
    defaultTags: null,
    onCap: null,
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
  },
  user: null,
  group: null,
  bucket: { remaining: 9, capacity: 10, resetMs: 1000, retryAfterSeconds: 0 },
  concurrentRequests: null,
  isEntered: true,
  areSessionsCapped: false,
  caps: [],
  reachedCap: null,
  isBehind: false,
  tokenBuckets: [],
  takenTokens: null,
  tokenLimit: null,
};

/** A key's cap of the month. */
export const REACHED: AdmittedCap = {
  scope: "key",
  period: "month",
  cents: 10,
  raisedCents: 0,
  spentMicrocents: 10_000_000n,
};

interface Script {
  readonly lookUp?: () => Promise<{ organizationId: string; keyId: string } | null>;
  readonly admit?: (input: AdmitInput) => Promise<AdmitResult>;
  readonly answer?: LocalEndpoints["answer"];
  readonly isReady?: boolean;
  /** Whether ext_proc's calls come to the same worker. */
  readonly staysOnWorker?: boolean;
}

/** A caller of `createAdmitRequest` with these answers of Redis, and what was asked of it. */
export function openAdmission(script: Script = {}) {
  const seen = {
    lookUps: 0,
    admits: [] as AdmitInput[],
    logged: [] as object[],
    left: [] as object[],
  };
  const directory = new KeyDirectory({
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    lookUp: () => {
      seen.lookUps += 1;
      return script.lookUp?.() ?? Promise.resolve({ organizationId: "org_1", keyId: "key_1" });
    },
  });
  const { meter, finished } = createRecordingMeter();
  const deferred = new DeferredAdmissions({ isServing: () => true, clock: { monotonicMs: () => 0 } });
  const logger = { error: (fields: object) => void seen.logged.push(fields) };
  const services: AdmissionServices = {
    directory,
    tokenCallers: null,
    admit: (input) => {
      seen.admits.push(input);
      return script.admit?.(input) ?? Promise.resolve(ADMITTED);
    },
    meanOutput: () => 0,
    abandon: ({
      caller: { organizationId, keyId },
      identity: { requestId, owners },
      limits: { takenTokens },
    }) => void seen.left.push({ organizationId, keyId, requestId, owners, takenTokens }),
    protocols: PROTOCOLS,
    createRequestId: () => `req_${seen.admits.length + 1}`,
    isReady: () => script.isReady ?? true,
    logger,
    meter,
    deferred,
    localEndpoints: { answer: script.answer ?? (() => Promise.reject(new Error("not in this test"))) },
    checkBody: (bytes) => {
      if (bytes > MAX_BODY_BYTES) throw new GatewayError("request_too_large");
    },
    dashboard: { baseUrl: null, contact: null },
  };
  const admitRequest = createAdmitRequest(services);
  const send = (
    request: Partial<IncomingRequest> = {},
    asker: CallState = { isOver: false, onUnread: null },
  ) =>
    admitRequest(
      {
        method: "POST",
        path: "/v1/chat/completions",
        headers: { authorization: `Bearer ${KEY}` },
        staysOnWorker: script.staysOnWorker ?? false,
        ...request,
      },
      asker,
    );
  /** Status and code of the refusal. */
  const refusal = async (request: Partial<IncomingRequest> = {}): Promise<string> => {
    const verdict = await send(request);
    if (verdict.kind !== "refused") return verdict.kind;
    const { error } = JSON.parse(verdict.reply.body) as { error: { code: string } };
    return `${verdict.reply.status} ${error.code}`;
  };
  return { send, refusal, seen, finished, deferred, admitAgain: createAdmitAgain(services) };
}

export const away = () => Promise.reject(new Error("Redis is unreachable: secret.internal"));
