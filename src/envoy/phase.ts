/**
 * The life of one ext_proc stream: which phases it has, what is known in each, which phase follows on which, and what
 * becomes of a message of Envoy's in each of them. docs/internals/envoy.md has the picture.
 */
import type { CollectedBody } from "../data-path/exchange/bodies/collected-body.ts";
import type { ErrorBody } from "../data-path/exchange/bodies/error-body.ts";
import type { RequestHeaders } from "../data-path/exchange/upstream/header-policy.ts";
import type { Header } from "../data-path/exchange/reply.ts";
import type {
  RoutedCall,
  StreamedResponse,
  UpstreamCall,
  WholeResponse,
} from "../data-path/exchange/upstream/upstream-call.ts";
import type { Admission } from "../data-path/limits/admission.ts";
import type { ProcessingRequest } from "./messages/codec.ts";
import type { ChangedHeaders } from "./messages/format-replies.ts";
import type { Watched } from "./silence-watch.ts";

/** This is a request that was admitted, from its headers to the end of its stream. */
export interface AdmittedRequest {
  readonly admission: Admission;
  /** These are headers of the response that ext_authz could not know yet. */
  readonly lateHeaders: readonly Header[];
  readonly call: UpstreamCall;
}

/** Nothing has come yet. */
interface AwaitHeaders {
  readonly name: "awaitHeaders";
}

/** The stream began with a response: another filter's, to a request that never came here. It passes as it is. */
interface Passing {
  readonly name: "passing";
}

/** The headers have come ahead of the admission, which is not decided yet. */
interface Deciding {
  readonly name: "deciding";
}

/** The request is admitted, and its body is on its way. */
export interface AwaitBody {
  readonly name: "awaitBody";
  readonly request: AdmittedRequest;
  readonly headers: RequestHeaders;
  /** It is that of the client's path, without the question mark. */
  readonly query: string;
  readonly body: CollectedBody;
}

/** The body is whole: it is read, and the request's hold is placed. */
interface Routing {
  readonly name: "routing";
  readonly request: AdmittedRequest;
}

/** The request is on its way, and its upstream has not answered. */
export interface Upstream {
  readonly name: "upstream";
  readonly request: AdmittedRequest;
  readonly routed: RoutedCall;
}

/** The upstream's answer is not streamed, and its body is on its way. */
export interface Collecting {
  readonly name: "collecting";
  readonly request: AdmittedRequest;
  readonly routed: RoutedCall;
  readonly response: WholeResponse;
  readonly changed: ChangedHeaders;
  readonly body: CollectedBody;
}

/** The upstream answers with an error, whose body is read as far as it says why. */
interface Failing {
  readonly name: "failing";
  readonly request: AdmittedRequest;
  readonly body: ErrorBody;
  /** It is called where the stream ends before the client was told of the error. */
  readonly onEnd: () => Promise<void>;
}

/** The client reads the answer as it comes. */
interface Streaming {
  readonly name: "streaming";
  readonly request: AdmittedRequest;
  readonly routed: RoutedCall;
  readonly response: StreamedResponse;
  readonly silence: Watched;
}

/** Nothing more is wanted of Envoy: the client's answer, or the last of it, waits for its charge. */
interface Closing {
  readonly name: "closing";
  readonly request: AdmittedRequest;
}

/** The client has its whole answer, or a refusal. */
interface Answered {
  readonly name: "answered";
  /** It is null where the request was never admitted. */
  readonly request: AdmittedRequest | null;
}

/** Envoy has ended the stream: the request is over, or its client or upstream has gone. */
interface Ended {
  readonly name: "ended";
}

export type Phase =
  | AwaitHeaders
  | Passing
  | Deciding
  | AwaitBody
  | Routing
  | Upstream
  | Collecting
  | Failing
  | Streaming
  | Closing
  | Answered
  | Ended;

export type PhaseName = Phase["name"];
export type PhaseOf<Name extends PhaseName> = Extract<Phase, { readonly name: Name }>;

export const AWAIT_HEADERS: Phase = { name: "awaitHeaders" };
export const PASSING: Phase = { name: "passing" };
export const DECIDING: Phase = { name: "deciding" };
export const ENDED: Phase = { name: "ended" };

/** These phases may follow on each. */
export const FOLLOWING: { readonly [Name in PhaseName]: readonly PhaseName[] } = {
  awaitHeaders: ["passing", "deciding", "awaitBody", "answered", "ended"],
  passing: ["ended"],
  deciding: ["awaitBody", "answered", "ended"],
  awaitBody: ["routing", "answered", "ended"],
  routing: ["upstream", "answered", "ended"],
  upstream: ["collecting", "failing", "streaming", "closing", "answered", "ended"],
  collecting: ["closing", "ended"],
  failing: ["closing", "ended"],
  streaming: ["closing", "ended"],
  closing: ["answered", "ended"],
  answered: ["ended"],
  ended: [],
};

/** It returns `next`. @throws Error where that must not follow on `before`. */
export function follow(before: Phase, next: Phase): Phase {
  if (FOLLOWING[before.name].includes(next.name)) return next;
  throw new Error(`the phase "${next.name}" of a stream cannot follow on "${before.name}"`);
}

/** A phase is over: what it alone has kept is let go. */
export function letGo(phase: Phase): void {
  switch (phase.name) {
    case "awaitBody":
    case "collecting":
      phase.body.take();
      break;
    case "failing":
      phase.body.drop();
      break;
    case "streaming":
      phase.silence.end();
      break;
    case "awaitHeaders":
    case "passing":
    case "deciding":
    case "routing":
    case "upstream":
    case "closing":
    case "answered":
    case "ended":
  }
}

/** The stream ends in this phase, and so does its request. While that is decided or routed, it is ended afterwards. */
export async function endIn(phase: Phase): Promise<void> {
  switch (phase.name) {
    case "awaitBody":
      await phase.request.call.onEnd();
      break;
    case "upstream":
    case "collecting":
    case "streaming":
      await phase.routed.onEnd();
      break;
    case "failing":
      await phase.onEnd();
      break;
    case "closing":
    case "answered":
      await phase.request?.call.onEndAnswered();
      break;
    case "awaitHeaders":
    case "passing":
    case "deciding":
    case "routing":
    case "ended":
  }
}

const KINDS = [
  // The order is that of how often they come.
  "response_body",
  "request_body",
  "request_headers",
  "response_headers",
  "response_trailers",
  "request_trailers",
] as const;
export type MessageKind = (typeof KINDS)[number];

/** It is null for a message of a kind that nobody asked for. */
export function kindOf(message: ProcessingRequest): MessageKind | null {
  for (const kind of KINDS) {
    if (message[kind] !== undefined) return kind;
  }
  return null;
}

/**
 * What becomes of a message: it is taken; Envoy is told to change nothing in it; the client is told an internal error; it
 * is not looked at, since all is said; or the stream is broken off, since Envoy never sends it then.
 */
export type Handling = "take" | "pass" | "refuse" | "ignore" | "break off";

const RESPONSE_IS_TAKEN = {
  request_trailers: "pass",
  response_body: "take",
  response_trailers: "take",
} as const;
const RESPONSE_PASSES = {
  response_headers: "pass",
  response_body: "pass",
  response_trailers: "pass",
} as const;

/** What is not listed for a phase breaks the stream off. While it decides and routes, messages wait in `MessageTurns`. */
const HANDLING: { readonly [Name in PhaseName]: { readonly [Kind in MessageKind]?: Handling } | "ignore" } = {
  awaitHeaders: { request_headers: "take", ...RESPONSE_PASSES },
  passing: RESPONSE_PASSES,
  deciding: {},
  awaitBody: { request_body: "take", request_trailers: "take", response_headers: "refuse" },
  routing: {},
  upstream: { request_trailers: "pass", response_headers: "take" },
  collecting: RESPONSE_IS_TAKEN,
  failing: RESPONSE_IS_TAKEN,
  streaming: RESPONSE_IS_TAKEN,
  closing: "ignore",
  answered: "ignore",
  ended: "ignore",
};

/** @param kind It is null for none that is known. */
export function handlingOf(phase: PhaseName, kind: MessageKind | null): Handling {
  const handling = HANDLING[phase];
  if (handling === "ignore") return "ignore";
  return (kind !== null && handling[kind]) || "break off";
}
