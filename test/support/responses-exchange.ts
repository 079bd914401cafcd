/** Short ways through the responses translation, for its tests. */
import { GatewayError } from "../../src/shared/contract/errors.ts";
import type { Answer, AnswerOutput } from "../../src/data-path/translation/client-protocol.ts";
import type { ModelProfile } from "../../src/shared/contract/model-profile.ts";
import type { ChatRequestBody } from "../../src/data-path/translation/conversation/chat-request.ts";
import type { CreateId } from "../../src/data-path/translation/responses-to-chat/ids.ts";
import { PROTOCOLS } from "../../src/data-path/translation/protocols.ts";
import { ResponsesRequest } from "../../src/data-path/translation/responses-to-chat/request.ts";
import type { ResponseObject } from "../../src/data-path/translation/responses-to-chat/response.ts";
import { createModel, decode, encode, ESTIMATED_INPUT_TOKENS } from "./messages-exchange.ts";
import { checkResponse, parseResponseEvents, type ResponseEvent } from "./responses-protocol-checker.ts";
import { atOnce } from "../../src/shared/event-loop/steps.ts";

type Json = Readonly<Record<string, unknown>>;

export const NOW_SECONDS = 1_790_000_000;

/** `resp_1`, `msg_1`, `fc_1`, `fc_2` … */
function countingIds(): CreateId {
  const counts = new Map<string, number>();
  return (kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return `${kind}_${count}`;
  };
}

export function parse(fields: Json = {}, purpose: "answer" | "compact" = "answer"): ResponsesRequest {
  const body = { model: "acme/echo", input: "Hello", ...fields };
  return new ResponsesRequest(atOnce(PROTOCOLS.responses.readBody(encode(body))), purpose, countingIds());
}

/** The chat completion request that a Responses request becomes. */
export function toChat(fields: Json = {}, profile: Partial<ModelProfile> = {}): ChatRequestBody {
  return JSON.parse(decode(parse(fields).toUpstream(createModel(profile)))) as ChatRequestBody;
}

/** The chat messages that a list of items becomes. */
export function toChatMessages(
  input: readonly unknown[],
  profile: Partial<ModelProfile> = {},
): ChatRequestBody["messages"] {
  return toChat({ input }, profile).messages;
}

/** What a client is told: "400 invalid_parameter tools[0]: …". Throws when nothing was refused. */
export function refusal(fields: Json, profile: Partial<ModelProfile> = {}): string {
  try {
    toChat(fields, profile);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.status("responses")} ${error.publicCode} ${error.message}`;
  }
  throw new Error("nothing was refused");
}

/** The reader of the answer to a request with these fields. */
export function createAnswer(fields: Json = {}, profile: Partial<ModelProfile> = {}): Answer {
  const request = parse(fields);
  return request.createAnswer({
    model: createModel(profile),
    estimatedInputTokens: ESTIMATED_INPUT_TOKENS,
    nowMs: () => NOW_SECONDS * 1000,
    requestId: "req_1",
  });
}

/** The response that a chat completion becomes; checked. */
export function toResponse(
  body: Json,
  fields: Json = {},
  profile: Partial<ModelProfile> = {},
): ResponseObject & Json {
  const { bytes } = createAnswer(fields, profile).translateBody(encode(body));
  const response = JSON.parse(decode(bytes)) as ResponseObject & Json;
  checkResponse(response);
  return response;
}

export interface StreamResult {
  readonly events: ResponseEvent[];
  /** One per piece pushed, and one for the end. */
  readonly outputs: AnswerOutput[];
  readonly text: string;
  /** The last event's; null when there is none. */
  readonly response: (ResponseObject & Json) | null;
}

/** Pushes the pieces of an upstream's stream, then its end. */
export function runStream(
  pieces: readonly (string | Uint8Array)[],
  fields: Json = {},
  profile: Partial<ModelProfile> = {},
): StreamResult {
  const answer = createAnswer({ stream: true, ...fields }, profile);
  const outputs = pieces.map((piece) => answer.push(typeof piece === "string" ? encode(piece) : piece));
  outputs.push(answer.end());
  const text = outputs.map(({ bytes }) => decode(bytes)).join("");
  const events = parseResponseEvents(text);
  const last = events.at(-1)?.data["response"];
  return { events, outputs, text, response: (last as (ResponseObject & Json) | undefined) ?? null };
}

/** The events of items in short: "added message", "output_text.delta Hello", "done message completed". */
export function contentOf(pieces: readonly string[], fields: Json = {}): string[] {
  return runStream(pieces, fields)
    .events.filter(({ data }) => "output_index" in data)
    .map(({ type, data }) => {
      const name = type.replace(/^response\./, "");
      const item = data["item"] as Record<string, string> | undefined;
      if (item === undefined) return `${name} ${formatText(data)}`.trimEnd();
      const at = `${String(data["output_index"])} ${item["type"]}`;
      return name === "output_item.added" ? `added ${at}` : `done ${at} ${item["status"]}`;
    })
    .filter((line) => !/^(?:content_part|reasoning_summary_part)\./.test(line));
}

function formatText({ delta, text, refusal: refused, arguments: args, input }: Json): string {
  const found = delta ?? text ?? refused ?? args ?? input;
  return typeof found === "string" ? found : "";
}
