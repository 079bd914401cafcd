/**
 * State machine of one ext_proc stream: its phases, the data of each phase, the transitions, and how each phase
 * handles each of Envoy's messages. See the diagram in docs/internals/envoy.md.
 */
import type { CollectedBody } from "../data-path/exchange/bodies/collected-body.ts";
import type { ErrorBody } from "../data-path/exchange/bodies/error-body.ts";
import type { Header } from "../data-path/exchange/reply.ts";
import type {
  RequestHeaders,
  RoutedCall,
  StreamedResponse,
  UpstreamCall,
  WholeResponse,
} from "../data-path/exchange/upstream/upstream-call.ts";
import type { Admission } from "../data-path/limits/admission.ts";
import type { ProcessingRequest } from "./messages/codec.ts";
import type { ChangedHeaders } from "./messages/format-replies.ts";
import type { Watched } from "./silence-watch.ts";

/** An admitted request, from its headers to the end of its stream. */
export interface AdmittedRequest {
  readonly admission: Admission;
  /** Response headers that ext_authz did not know yet. */
  readonly lateHeaders: readonly Header[];
  readonly call: UpstreamCall;
}

/** No message has arrived. */
interface AwaitHeaders {
  readonly name: "awaitHeaders";
}

/** The stream began with another filter's response to a request that never came here. It passes unchanged. */
interface Passing {
  readonly name: "passing";
}

/** The headers have arrived, and the admission is not decided yet. */
interface Deciding {
  readonly name: "deciding";
}

/** The request is admitted, and its body is arriving. */
export interface AwaitBody {
  readonly name: "awaitBody";
  readonly request: AdmittedRequest;
  readonly headers: RequestHeaders;
  /** Query of the client's path, without the question mark. */
  readonly query: string;
  readonly body: CollectedBody;
}

/** The body is complete; the request is being read and recorded. */
interface Routing {
  readonly name: "routing";
  readonly request: AdmittedRequest;
}

/** The request was sent, and its upstream has not responded. */
export interface Upstream {
  readonly name: "upstream";
  readonly request: AdmittedRequest;
  readonly routed: RoutedCall;
}

/** The upstream's response is not streamed, and its body is arriving. */
export interface Collecting {
  readonly name: "collecting";
  readonly request: AdmittedRequest;
  readonly routed: RoutedCall;
  readonly response: WholeResponse;
  readonly changed: ChangedHeaders;
  readonly body: CollectedBody;
}

/** The upstream responded with an error; its body is read until the reason is known. */
interface Failing {
  readonly name: "failing";
  readonly request: AdmittedRequest;
  readonly body: ErrorBody;
  /** Called if the stream ends before the client got the error. */
  readonly onEnd: () => Promise<void>;
}

/** The response is streamed to the client. */
interface Streaming {
  readonly name: "streaming";
  readonly request: AdmittedRequest;
  readonly routed: RoutedCall;
  readonly response: StreamedResponse;
  readonly silence: Watched;
}

/** Nothing more is needed from Envoy; the response, or its last piece, waits for its charge. */
interface Closing {
  readonly name: "closing";
  readonly request: AdmittedRequest;
}

/** The client has its complete response, or an error. */
interface Answered {
  readonly name: "answered";
  /** Null if the request was never admitted. */
  readonly request: AdmittedRequest | null;
}

/** Envoy has ended the stream: the request is complete, or its client or upstream has disconnected. */
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

/** Allowed transitions. */
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

/**
 * Returns `next`.
 * @throws Error if `before` has no transition to `next`.
 */
export function follow(before: Phase, next: Phase): Phase {
  if (FOLLOWING[before.name].includes(next.name)) return next;
  throw new Error(`the phase "${next.name}" of a stream cannot follow on "${before.name}"`);
}

/** Releases the data that only this phase needed. */
export function release(phase: Phase): void {
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

/** Ends the request with its stream. A request that is being decided or routed ends afterwards. */
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
  // Most frequent first.
  "response_body",
  "request_body",
  "request_headers",
  "response_headers",
  "response_trailers",
  "request_trailers",
] as const;
export type MessageKind = (typeof KINDS)[number];

/** Returns null for an unexpected kind of message. */
export function kindOf(message: ProcessingRequest): MessageKind | null {
  for (const kind of KINDS) {
    if (message[kind] !== undefined) return kind;
  }
  return null;
}

/**
 * How a message is handled: `take` it; `pass` it on unchanged; `refuse` with an internal error for the client;
 * `ignore` it, because the response is complete; or `break off` the stream, because Envoy never sends it in this
 * phase.
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

/**
 * Kinds that a phase does not list break the stream off. While a request is decided or routed, messages wait in
 * `MessageTurns`.
 */
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

/** @param kind Null for an unknown kind. */
export function handlingOf(phase: PhaseName, kind: MessageKind | null): Handling {
  const handling = HANDLING[phase];
  if (handling === "ignore") return "ignore";
  return (kind !== null && handling[kind]) || "break off";
}
