/**
 * May this request go on? Key → bucket → caps → endpoint, in this order; the first three in one step in Redis.
 *
 * Decided from the headers alone, before any body is read. Whatever goes wrong here is a refusal: an admission is never
 * given on a guess, and never asked for twice, because the first answer may only be late. Where ext_proc can wait for the
 * decision in its place, ext_authz does not (admissions-under-way.ts).
 */
import { requestsPerMinuteOf } from "../../../shared/settings/key.ts";
import type { Caller } from "../../auth/key-directory.ts";
import { unknownKey } from "../../auth/read-key.ts";
import type { TokenVerdict } from "../../auth/read-token.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import { createAdmissionError } from "../../limits/admission-error.ts";
import type { Admission } from "../../limits/admission.ts";
import { formatHeadroom } from "../../limits/headroom.ts";
import { NO_SESSION, readSessionHeaders } from "../../limits/session.ts";
import { formatRateHeaders, type RateState } from "../../limits/rate-headers.ts";
import type { Logger } from "../../../shared/host/logger.ts";
import { scrub } from "../../../shared/text/scrub.ts";
import type { Admit, AdmitInput, KnownKeyResult } from "../../store/types/admission.ts";
import { formatOwnerIds } from "../../store/types/owner-ids.ts";
import type { EnteredRequest } from "../../store/types/settlement.ts";
import { mergeTags, parseTagList } from "../../../shared/usage/tags.ts";
import type { RequestMeter } from "../../../shared/telemetry/request-meter.ts";
import type { Protocol, ProtocolName } from "../../translation/client-protocol.ts";
import { formatAdmissionHeader, formatAwaitedHeader } from "./admission-header.ts";
import type { AdmissionsUnderWay } from "./admissions-under-way.ts";
import { type Decision, NOBODY, type Refusal, type RefusalLog } from "./decision.ts";
import { TAGS_HEADER } from "../../../shared/contract/header-names.ts";
import { describeEnd } from "../ends/describe-end.ts";
import { type CallerServices, findCaller, forget, requireUser, throwUnavailable } from "./find-caller.ts";
import { type Endpoint, type EndpointMatch, findEndpoint, LOCAL_ENDPOINTS } from "./endpoints.ts";
import type { LocalEndpoints } from "./local-endpoints.ts";
import { type Header, type Reply, createErrorReply, createJsonReply, formatIdHeaders } from "../reply.ts";
import { parseRouteRestrictions, restrictModels } from "./route-restrictions.ts";
import { describeUnreadable, refuseEndpoint } from "./unknown-endpoint.ts";

/** A request as ext_authz sees it. */
export interface IncomingRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** `context_extensions` of the route in Envoy's configuration: `parseRouteRestrictions`. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** What Envoy has found out about its token, where it has one that looks like one. */
  readonly token?: TokenVerdict | null;
}

export type Verdict =
  /** The gateway's own answer, by the head alone: nothing of a body behind it is read. */
  | { readonly kind: "answered"; readonly reply: Reply; readonly log: RefusalLog }
  /** Also one whose admission is under way: ext_proc waits for it. */
  | {
      readonly kind: "admitted";
      /** For ext_proc: `formatAdmissionHeader`, or `formatAwaitedHeader`. */
      readonly admissionHeader: string;
      readonly requestId: string;
      /** For whatever response the request gets. */
      readonly responseHeaders: readonly Header[];
      /** For what Envoy answers by itself where these do not come: as they are, or as they are likely to become. */
      readonly rateHeaders: readonly Header[];
    }
  | Refusal;

/** Who waits for the verdict. */
export interface Asker {
  /** Nobody does any more: the client has taken its request back, which then never goes on. */
  readonly isOver: boolean;
}

/** Never rejects. */
export type AdmitRequest = (request: IncomingRequest, asker: Asker) => Promise<Verdict>;

export interface AdmissionServices extends CallerServices {
  readonly admit: Admit;
  /** Mean output of the key's requests, which shared limits of tokens set aside; 0 if unknown. */
  readonly meanOutput: (caller: Pick<Caller, "organizationId" | "keyId">) => number;
  /** A request does not go on that its admission has put among the holds. */
  readonly leave: (request: EnteredRequest & Pick<AdmitInput, "organizationId">) => void;
  readonly protocols: Readonly<Record<ProtocolName, Protocol>>;
  /** `req_` + UUID v7. */
  readonly createRequestId: () => string;
  /** Whether a request could be admitted: Redis answers or the grace period is not over, no drain has begun. */
  readonly isReady: () => boolean;
  readonly logger: Logger<"error">;
  readonly meter: Pick<RequestMeter, "admitted" | "finished">;
  /** Requests that go on before they are decided. */
  readonly underWay: Pick<AdmissionsUnderWay, "mayPass" | "pass" | "learn" | "estimate">;
  readonly localEndpoints: LocalEndpoints;
  /** @throws GatewayError 413 `request_too_large` where a body has more bytes than one may have. */
  readonly checkBody: (bytes: number) => void;
}

/** What of an admission the request's head says. */
type ReadFromHead = Pick<Admission, "tags" | "session" | "sessionBudgetCents">;

/** A request, and what was read of it so far. */
interface Asked {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly match: EndpointMatch;
  readonly protocol: ProtocolName;
  readonly route: string;
  /** It goes upstream if nothing else refuses it. */
  readonly isMetered: boolean;
  readonly startMs: number;
}

export function createAdmitRequest(services: AdmissionServices): AdmitRequest {
  return async (request, asker) => {
    const requestId = services.createRequestId();
    const match = findEndpoint(request.path);
    const protocol = protocolOf(match.endpoint, request);
    // A wrong method is refused as it is everywhere: after the key.
    if (match.endpoint.name === "readiness" && match.endpoint.methods.includes(request.method)) {
      // A probe is nobody's request, neither logged nor counted.
      return { kind: "answered", reply: readinessReply(services.isReady(), requestId), log: NOBODY };
    }
    const startMs = performance.now();
    const route = formatRoute(request);
    const isMetered = isMeteredCall(match.endpoint, request);
    const asked: Asked = { request, requestId, match, protocol, route, isMetered, startMs };
    let caller: Caller;
    try {
      caller = await findCaller(services, request, requestId);
    } catch (thrown) {
      return refuse(services, asked, { thrown, caller: NOBODY, rate: null });
    }
    const decided = decide(services, asked, caller);
    if (services.underWay.mayPass(caller, bodyBytesOf(asked))) {
      services.underWay.pass(requestId, caller, decided);
      const rate = services.underWay.estimate(caller.keyId);
      return {
        kind: "admitted",
        admissionHeader: formatAwaitedHeader({ requestId, protocol, rate }),
        requestId,
        responseHeaders: formatIdHeaders(requestId),
        rateHeaders: rate === null ? [] : formatRateHeaders(rate, protocol),
      };
    }
    const decision = await decided;
    if (decision.kind === "refused") return decision;
    if (LOCAL_ENDPOINTS.has(match.endpoint.name)) return answer(services, asked, decision.admission);
    // It never goes on. Where its admission was not answered (grace period), Redis may still carry it out.
    if (asker.isOver) services.leave(decision.admission);
    return formatAdmitted(decision.admission);
  };
}

/** Here and not at ext_proc, before which Envoy takes in whatever body comes behind the head. */
async function answer(
  { localEndpoints, logger, protocols }: AdmissionServices,
  { request, requestId }: Asked,
  admission: Admission,
): Promise<Verdict> {
  const { keyId, organizationId, protocol } = admission;
  const log = { keyId, organizationId, errorCode: null };
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

/** Never rejects: whatever goes wrong is a refusal. */
async function decide(services: AdmissionServices, asked: Asked, caller: Caller): Promise<Decision> {
  const { request, requestId, match } = asked;
  let rate: RateState | null = null;
  let named = NOBODY;
  let admitted: KnownKeyResult | null = null;
  try {
    const result = await admit(services, asked, caller);
    rate = rateState(result);
    named = { keyId: result.key.id, organizationId: result.organization.id, errorCode: null };
    if (result.decision !== "admitted") {
      throw createAdmissionError(result, match.endpoint.name, services.dashboard);
    }
    if (asked.isMetered) admitted = result;
    requireUser(services, caller, result);
    refuseEndpoint(match.endpoint, request);
    const tags = match.endpoint.isMetered ? readTagsHeader(request, result.key.defaultTags) : "";
    const sessionHeaders = match.endpoint.isMetered ? readSessionHeaders(request.headers) : NO_SESSION;
    if (!LOCAL_ENDPOINTS.has(match.endpoint.name)) services.checkBody(declaredBytes(request) ?? 0);
    services.underWay.learn(caller.keyId, rate);
    services.meter.admitted((performance.now() - asked.startMs) / 1000);
    return {
      kind: "admitted",
      admission: createAdmission(result, rate, asked, { tags, ...sessionHeaders }),
    };
  } catch (thrown) {
    services.underWay.learn(caller.keyId, null);
    if (admitted !== null) {
      const { organization, key, takenTokens } = admitted;
      const owners = ownersOf(admitted);
      services.leave({ organizationId: organization.id, keyId: key.id, requestId, owners, takenTokens });
    }
    return refuse(services, asked, { thrown, caller: named, rate });
  }
}

/** The answer of one Lua call. */
async function admit(services: AdmissionServices, asked: Asked, caller: Caller): Promise<KnownKeyResult> {
  const { requestId, route, match } = asked;
  const question: AdmitInput = {
    organizationId: caller.organizationId,
    keyId: caller.keyId,
    presentedHash: caller.presentedHash,
    groupId: caller.groupId,
    requestId,
    route,
    bucket: match.endpoint.name === "count_tokens" ? "count_tokens" : "requests",
    metered: asked.isMetered,
    promptTokens: promptTokensByHead(asked),
    reservedTokens: asked.isMetered ? services.meanOutput(caller) : 0,
  };
  // Not asked again after an error: it may have been executed.
  const result = await services.admit(question).catch(throwUnavailable);
  if (result.decision === "unknown_key") {
    forget(services, caller);
    throw unknownKey(services.dashboard.baseUrl);
  }
  return result;
}

function refuse(
  services: AdmissionServices,
  { requestId, protocol, match, startMs }: Asked,
  { thrown, caller, rate }: { thrown: unknown; caller: RefusalLog; rate: RateState | null },
): Refusal {
  const error = GatewayError.from(thrown);
  if (error.status("chat") >= 500) {
    services.logger.error({ request_id: requestId, err: error.cause ?? error }, "request not admitted");
  }
  const reply = createErrorReply(error, services.protocols[protocol], { requestId, protocol, rate });
  const durationMs = performance.now() - startMs;
  services.meter.admitted(durationMs / 1000);
  const ended = { ...caller, requestId, endpoint: match.endpoint.name };
  services.meter.finished(describeEnd(ended, { status: reply.status, error, durationMs }));
  return { kind: "refused", reply, log: { ...caller, errorCode: error.publicCode } };
}

function isMeteredCall(endpoint: Endpoint, request: IncomingRequest): boolean {
  return (
    endpoint.isMetered && endpoint.methods.includes(request.method) && describeUnreadable(request) === null
  );
}

/** `content-length`; null: it is not said. */
function declaredBytes({ headers }: IncomingRequest): number | null {
  const length = Number(headers["content-length"]);
  return Number.isSafeInteger(length) ? length : null;
}

/** `content-length` of a request that goes upstream; null: unknown, or it does not. */
function bodyBytesOf({ request, isMetered }: Asked): number | null {
  return isMetered ? declaredBytes(request) : null;
}

/** A token for four bytes, as text has; longer bodies, which may be pictures, are counted when they have come. */
const BYTES_PER_TOKEN = 4;
const MAX_BYTES_OF_TEXT = 65_536;

/** For limits of tokens, which must know of a request before its body has come; 0 where nobody knows. */
function promptTokensByHead(asked: Asked): number {
  const bytes = Math.max(0, bodyBytesOf(asked) ?? 0);
  return Math.floor(Math.min(bytes, MAX_BYTES_OF_TEXT) / BYTES_PER_TOKEN);
}

function formatAdmitted(admission: Admission): Verdict {
  const { requestId, rate, protocol } = admission;
  const rateHeaders = formatRateHeaders(rate, protocol);
  return {
    kind: "admitted",
    admissionHeader: formatAdmissionHeader(admission),
    requestId,
    responseHeaders: [...formatIdHeaders(requestId), ...rateHeaders],
    rateHeaders,
  };
}

function createAdmission(
  result: KnownKeyResult,
  rate: RateState,
  asked: Asked,
  { tags, session, sessionBudgetCents }: ReadFromHead,
): Admission {
  const { match, protocol, requestId, request, route } = asked;
  const { key, organization, month, day, isEntered, areSessionsCapped, takenTokens } = result;
  const restrictions = parseRouteRestrictions(request.extensions ?? {});
  return {
    requestId,
    endpoint: match.endpoint.name,
    protocol,
    route,
    resource: match.resource,
    organizationId: organization.id,
    organizationName: organization.name,
    keyId: key.id,
    keyName: key.name,
    currency: organization.currency,
    isStrict: organization.strictCaps,
    shrinksOnCap: (key.onCap ?? organization.onCap) === "shrink",
    isEntered,
    concurrencyLimit: key.maxConcurrentRequests,
    models: restrictModels(key.allowedModels, organization.id, restrictions),
    month,
    day,
    owners: ownersOf(result),
    tags,
    session,
    sessionBudgetCents,
    areSessionsCapped,
    keepsEndUser: organization.endUserTag,
    headroom: asked.isMetered ? formatHeadroom(result) : [],
    modelNames: hasModelNames(organization) ? organization.modelNames : null,
    rate,
    takenTokens,
  };
}

function ownersOf({ user, group }: KnownKeyResult): string {
  return formatOwnerIds({ userId: user?.id ?? null, groupId: group?.id ?? null });
}

function hasModelNames({ modelNames }: KnownKeyResult["organization"]): boolean {
  return modelNames.defaultModel !== null || Object.keys(modelNames.aliases).length > 0;
}

/**
 * The tags of a request: those of its header, and the key's default ones beside them. A header given several times is one
 * list (RFC 9110, section 5.3), as Envoy joins it.
 * @throws GatewayError 400 saying what is wrong with the header.
 */
function readTagsHeader({ headers }: IncomingRequest, defaultTags: string | null): string {
  const header = headers[TAGS_HEADER];
  if (header === undefined) return defaultTags ?? "";
  const parsed = parseTagList(header);
  if ("tags" in parsed) return mergeTags(parsed.tags, defaultTags ?? "");
  throw new GatewayError("invalid_parameter", { message: `\`X-Tags\`: ${parsed.problem}`, param: "X-Tags" });
}

function rateState({ key, bucket, timeMs, tokenBuckets }: KnownKeyResult): RateState {
  const { capacity, remaining, resetMs } = bucket;
  return { limit: requestsPerMinuteOf(key), capacity, remaining, resetMs, timeMs, tokens: tokenBuckets };
}

function readinessReply(ready: boolean, requestId: string): Reply {
  const context = { requestId, protocol: "chat", rate: null } as const;
  if (ready) return createJsonReply(200, { status: "ready" }, context);
  const reply = createJsonReply(503, { status: "not_ready" }, context);
  return { ...reply, headers: [...reply.headers, ["retry-after", "1"], ["x-should-retry", "true"]] };
}

/** The model list has both protocols' shapes; a client that names its Anthropic version gets that envelope. */
function protocolOf(endpoint: Endpoint, request: IncomingRequest): ProtocolName {
  const isModels = endpoint.name === "models" || endpoint.name === "model";
  return isModels && request.headers["anthropic-version"] !== undefined ? "messages" : endpoint.protocol;
}

/**
 * "POST /v1/messages": without the query, which may hold anything, without what has the form of a credential, since it
 * is kept where others read it, and never longer than a log line should be.
 */
function formatRoute({ method, path }: IncomingRequest): string {
  const query = path.indexOf("?");
  return scrub(`${method} ${query === -1 ? path : path.slice(0, query)}`.slice(0, 200));
}
