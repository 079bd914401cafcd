/**
 * Decides whether a request may continue: key → bucket → caps → endpoint, in this order, the first three in one step
 * in Redis.
 *
 * Decides from the headers, before any body is read. Every failure here rejects the request: an admission is never
 * guessed, and a worker never requests it twice, because the first reply may only be late. If ext_proc can wait for
 * the decision, ext_authz does not (deferred-admissions.ts).
 */
import { requestsPerMinuteOf } from "../../../shared/settings/key.ts";
import type { Caller } from "../../auth/key-directory.ts";
import { unknownKey } from "../../auth/read-key.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import { createAdmissionError } from "../../limits/errors/admission-error.ts";
import type { Admission, EnteredAdmission, RateState } from "../../limits/admission.ts";
import { formatHeadroom } from "../../limits/headers/headroom.ts";
import { NO_SESSION, readSessionHeaders, type SessionHeaders } from "../../limits/session.ts";
import { formatRateHeaders } from "../../limits/headers/rate-headers.ts";
import type { Logger } from "../../../shared/host/logger.ts";
import type { Admit, AdmitInput, KnownKeyResult } from "../../../shared/stored/admission.ts";
import { formatOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { RequestMeter } from "../../../shared/telemetry/request-meter.ts";
import type { Protocol, ProtocolName } from "../../translation/client-protocol.ts";
import { type AwaitedRequest, formatAdmissionHeader, formatAwaitedHeader } from "./admission-header.ts";
import type { DeferredAdmissions } from "./deferred-admissions.ts";
import { type Decision, NO_OWNERS, type Refusal, type RefusalLog } from "./decision.ts";
import { describeEnd } from "../ends/describe-end.ts";
import { type CallerServices, findCaller, dropCaller, requireUser, throwUnavailable } from "./find-caller.ts";
import { LOCAL_ENDPOINTS } from "./endpoints.ts";
import type { LocalEndpoints } from "./local-endpoints.ts";
import { type Header, type Reply, createErrorReply, createJsonReply, formatIdHeaders } from "../reply.ts";
import {
  bodyBytesOf,
  declaredBytes,
  type IncomingRequest,
  type ParsedRequest,
  parseRequest,
  promptTokensByHead,
  readTagsHeader,
} from "./request-head.ts";
import { parseRouteRestrictions, restrictModels } from "./route-restrictions.ts";
import { refuseEndpoint } from "./unknown-endpoint.ts";

export type Verdict =
  /** The gateway responds by itself from the headers; the body is not read. */
  | { readonly kind: "answered"; readonly reply: Reply; readonly log: RefusalLog }
  /** Admitted, or still being decided: ext_proc then waits. */
  | {
      readonly kind: "admitted";
      /** For ext_proc: made by `formatAdmissionHeader` or `formatAwaitedHeader`. */
      readonly admissionHeader: string;
      readonly requestId: string;
      /** Only this worker knows the decision. */
      readonly isDeferred: boolean;
      /** For every response to this request. */
      readonly responseHeaders: readonly Header[];
      /**
       * For Envoy's own responses, which lack the headers above. Estimated if the admission is still being decided.
       */
      readonly rateHeaders: readonly Header[];
    }
  | Refusal;

/** State of the ext_authz call that waits for the verdict. */
export interface CallState {
  /** The client has canceled its request, which then never continues. */
  readonly isOver: boolean;
  /** Called if Envoy does not read the verdict, because the client has canceled its request. */
  onUnread: (() => void) | null;
}

/** Never rejects. */
export type AdmitRequest = (request: IncomingRequest, call: CallState) => Promise<Verdict>;

export interface AdmissionServices extends CallerServices {
  readonly admit: Admit;
  /** Mean output tokens of the key's requests, which shared token limits set aside; 0 if unknown. */
  readonly meanOutput: (caller: Pick<Caller, "organizationId" | "keyId">) => number;
  /** Withdraws the entry of an admitted request that does not continue. */
  readonly abandon: (admission: EnteredAdmission) => void;
  readonly protocols: Readonly<Record<ProtocolName, Protocol>>;
  /** `req_` + UUID v7. */
  readonly createRequestId: () => string;
  /** Whether requests can be admitted: Redis answers or the grace period runs, and no drain has begun. */
  readonly isReady: () => boolean;
  readonly logger: Logger<"error">;
  readonly meter: Pick<RequestMeter, "admitted" | "finished">;
  /** Requests that pass before they are decided. */
  readonly deferred: Pick<DeferredAdmissions, "canDefer" | "defer" | "take" | "learn" | "estimate">;
  readonly localEndpoints: LocalEndpoints;
  /** @throws GatewayError 413 `request_too_large` if a body exceeds the limit. */
  readonly checkBody: (bytes: number) => void;
}

/**
 * Admits a request a second time: a worker let it pass before its decision and then ended, so that it came to
 * another worker. The request keeps its id, so Redis has one entry for it, but the key's bucket may give a second
 * token. Never rejects.
 */
export type AdmitAgain = (lost: AwaitedRequest, request: IncomingRequest) => Promise<Decision>;

export function createAdmitAgain(services: AdmissionServices): AdmitAgain {
  return ({ requestId, caller, extensions }, request) =>
    decide(services, parseRequest({ ...request, extensions }, requestId), caller);
}

export function createAdmitRequest(services: AdmissionServices): AdmitRequest {
  return async (request, call) => {
    const requestId = services.createRequestId();
    const parsed = parseRequest(request, requestId);
    const { endpoint } = parsed.match;
    // A wrong method is rejected after the key is checked, as on every endpoint.
    if (endpoint.name === "readiness" && endpoint.methods.includes(request.method)) {
      // A probe belongs to no key; it is neither logged nor counted.
      return { kind: "answered", reply: readinessReply(services.isReady(), requestId), log: NO_OWNERS };
    }
    let caller: Caller;
    try {
      caller = await findCaller(services, request, requestId);
    } catch (thrown) {
      return refuse(services, parsed, { thrown, caller: NO_OWNERS, rate: null });
    }
    const decisionPromise = decide(services, parsed, caller);
    if (request.staysOnWorker === true && services.deferred.canDefer(caller, bodyBytesOf(parsed))) {
      services.deferred.defer(requestId, caller, decisionPromise);
      undoIfUnread(call, () => void abandonDeferred(services, requestId));
      const rate = services.deferred.estimate(caller.keyId);
      return {
        kind: "admitted",
        admissionHeader: formatAwaitedHeader({ requestId, caller, extensions: request.extensions ?? {} }),
        requestId,
        isDeferred: true,
        responseHeaders: formatIdHeaders(requestId),
        rateHeaders: rate === null ? [] : formatRateHeaders(rate, parsed.protocol),
      };
    }
    const decision = await decisionPromise;
    if (decision.kind === "refused") return decision;
    if (LOCAL_ENDPOINTS.has(endpoint.name)) return answer(services, parsed, decision.admission);
    // If Envoy does not read the verdict, the request never continues. Its entry must then be removed from Redis,
    // even after an admission in the grace period: Redis may still execute the call that it did not answer.
    undoIfUnread(call, () => services.abandon(decision.admission));
    return formatAdmitted(decision.admission);
  };
}

/** Never rejects. */
async function abandonDeferred({ deferred, abandon }: AdmissionServices, requestId: string): Promise<void> {
  const decision = await deferred.take(requestId)?.decisionPromise;
  if (decision?.kind === "admitted") abandon(decision.admission);
}

/** Undoes an admission whose verdict Envoy does not read, now or later. */
function undoIfUnread(call: CallState, undo: () => void): void {
  if (call.isOver) undo();
  else call.onUnread = undo;
}

/**
 * Answers a request for a local endpoint already in ext_authz, because Envoy reads the whole body before it calls
 * ext_proc.
 */
async function answer(
  { localEndpoints, logger, protocols }: AdmissionServices,
  { request, requestId }: ParsedRequest,
  admission: Admission,
): Promise<Verdict> {
  const { caller, protocol } = admission;
  const log = { keyId: caller.keyId, organizationId: caller.organizationId, errorCode: null };
  try {
    return { kind: "answered", reply: await localEndpoints.answer(admission, request.path), log };
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    if (error.status(protocol) >= 500) {
      logger.error({ request_id: requestId, err: error.cause ?? error }, "request failed");
    }
    const reply = createErrorReply(error, protocols[protocol], admission);
    return { kind: "refused", reply, log: { ...log, errorCode: error.publicCode } };
  }
}

/** Never rejects: every error becomes a refusal. */
async function decide(services: AdmissionServices, parsed: ParsedRequest, caller: Caller): Promise<Decision> {
  const { request, requestId, match } = parsed;
  let rate: RateState | null = null;
  let named = NO_OWNERS;
  let admitted: KnownKeyResult | null = null;
  try {
    const result = await admit(services, parsed, caller);
    rate = rateState(result);
    named = { keyId: result.key.id, organizationId: result.organization.id, errorCode: null };
    if (result.decision !== "admitted") {
      throw createAdmissionError(result, match.endpoint.name, services.dashboard);
    }
    if (parsed.isMetered) admitted = result;
    requireUser(services, caller, result);
    refuseEndpoint(match.endpoint, request);
    const tags = match.endpoint.isMetered ? readTagsHeader(request, result.key.defaultTags) : "";
    const session = match.endpoint.isMetered ? readSessionHeaders(request.headers) : NO_SESSION;
    if (!LOCAL_ENDPOINTS.has(match.endpoint.name)) services.checkBody(declaredBytes(request) ?? 0);
    services.deferred.learn(caller.keyId, rate);
    services.meter.admitted((performance.now() - parsed.startMs) / 1000);
    return { kind: "admitted", admission: createAdmission(result, rate, parsed, { tags, session }) };
  } catch (thrown) {
    services.deferred.learn(caller.keyId, null);
    if (admitted !== null) {
      const identity = { requestId, owners: ownersOf(admitted) };
      services.abandon({ identity, caller, limits: admitted });
    }
    return refuse(services, parsed, { thrown, caller: named, rate });
  }
}

/** Makes the one Lua call of an admission. */
async function admit(
  services: AdmissionServices,
  parsed: ParsedRequest,
  caller: Caller,
): Promise<KnownKeyResult> {
  const { requestId, route, match } = parsed;
  const question: AdmitInput = {
    organizationId: caller.organizationId,
    keyId: caller.keyId,
    presentedHash: caller.presentedHash,
    groupId: caller.groupId,
    requestId,
    route,
    bucket: match.endpoint.name === "count_tokens" ? "count_tokens" : "requests",
    metered: parsed.isMetered,
    promptTokens: promptTokensByHead(parsed),
    reservedTokens: parsed.isMetered ? services.meanOutput(caller) : 0,
  };
  // Not retried after an error: the call may have been executed.
  const result = await services.admit(question).catch(throwUnavailable);
  if (result.decision === "unknown_key") {
    dropCaller(services, caller);
    throw unknownKey(services.dashboard.baseUrl);
  }
  return result;
}

function refuse(
  services: AdmissionServices,
  { requestId, protocol, match, startMs }: ParsedRequest,
  { thrown, caller, rate }: { thrown: unknown; caller: RefusalLog; rate: RateState | null },
): Refusal {
  const error = GatewayError.from(thrown);
  if (error.status("chat") >= 500) {
    services.logger.error({ request_id: requestId, err: error.cause ?? error }, "request not admitted");
  }
  const identity = { requestId };
  const reply = createErrorReply(error, services.protocols[protocol], { identity, protocol, rate });
  const durationMs = performance.now() - startMs;
  services.meter.admitted(durationMs / 1000);
  const ended = { identity, caller, endpoint: match.endpoint.name };
  services.meter.finished(describeEnd(ended, { status: reply.status, error, durationMs }));
  return { kind: "refused", reply, log: { ...caller, errorCode: error.publicCode } };
}

function formatAdmitted(admission: Admission): Verdict {
  const { identity, rate, protocol } = admission;
  const rateHeaders = formatRateHeaders(rate, protocol);
  return {
    kind: "admitted",
    admissionHeader: formatAdmissionHeader(admission),
    requestId: identity.requestId,
    isDeferred: false,
    responseHeaders: [...formatIdHeaders(identity.requestId), ...rateHeaders],
    rateHeaders,
  };
}

function createAdmission(
  result: KnownKeyResult,
  rate: RateState,
  parsed: ParsedRequest,
  { tags, session }: { readonly tags: string; readonly session: SessionHeaders },
): Admission {
  const { match, protocol, requestId, request, route } = parsed;
  const { key, organization, month, day, isEntered, areSessionsCapped, takenTokens } = result;
  const restrictions = parseRouteRestrictions(request.extensions ?? {});
  return {
    identity: {
      requestId,
      route,
      month,
      day,
      owners: ownersOf(result),
      tags: tags === "" ? undefined : tags,
      session: session.session,
    },
    caller: {
      organizationId: organization.id,
      organizationName: organization.name,
      keyId: key.id,
      keyName: key.name,
      currency: organization.currency,
      models: restrictModels(key.allowedModels, organization.id, restrictions),
      modelNames: hasModelNames(organization) ? organization.modelNames : null,
      tagsEndUser: organization.endUserTag,
    },
    limits: {
      isStrict: organization.strictCaps,
      isEntered,
      shrinksOnCap: (key.onCap ?? organization.onCap) === "shrink",
      areSessionsCapped,
      concurrencyLimit: key.maxConcurrentRequests,
      sessionBudgetCents: session.sessionBudgetCents,
      takenTokens,
    },
    rate,
    endpoint: match.endpoint.name,
    protocol,
    resource: match.resource,
    headroom: parsed.isMetered ? formatHeadroom(result) : [],
  };
}

function ownersOf({ user, group }: KnownKeyResult): string | undefined {
  if (user === null && group === null) return undefined;
  return formatOwnerIds({ userId: user?.id ?? null, groupId: group?.id ?? null });
}

function hasModelNames({ modelNames }: KnownKeyResult["organization"]): boolean {
  return modelNames.defaultModel !== null || Object.keys(modelNames.aliases).length > 0;
}

function rateState({ key, bucket, timeMs, tokenBuckets }: KnownKeyResult): RateState {
  const { capacity, remaining, resetMs } = bucket;
  return { limit: requestsPerMinuteOf(key), capacity, remaining, resetMs, timeMs, tokens: tokenBuckets };
}

function readinessReply(ready: boolean, requestId: string): Reply {
  const context = { identity: { requestId }, protocol: "chat", rate: null } as const;
  if (ready) return createJsonReply(200, { status: "ready" }, context);
  const reply = createJsonReply(503, { status: "not_ready" }, context);
  return { ...reply, headers: [...reply.headers, ["retry-after", "1"], ["x-should-retry", "true"]] };
}
