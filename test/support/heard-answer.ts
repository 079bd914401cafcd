/** What a client of the messages or the responses route hears of a chat completion, streamed or whole. */
import type { ModelProfile } from "../../src/shared/contract/model-profile.ts";
import * as messages from "./messages-exchange.ts";
import { checkMessageStream } from "./messages-protocol-checker.ts";
import * as responses from "./responses-exchange.ts";
import { checkResponseStream } from "./responses-protocol-checker.ts";

export interface HeardAnswer {
  readonly thinking: string;
  readonly text: string;
  /** "get {…}" */
  readonly calls: readonly string[];
}

/** How an answer is heard; its fields are those of a request on that route. */
export interface HearingRoute {
  readonly name: string;
  readonly stream: (pieces: readonly string[], profile?: Partial<ModelProfile>) => HeardAnswer;
  readonly whole: (completion: object, profile?: Partial<ModelProfile>) => HeardAnswer;
}

const TOOL_NAMES = ["get", "put", "search_files"];
const SCHEMA = { type: "object" };

const MESSAGES: HearingRoute = {
  name: "messages",
  stream(pieces, profile) {
    const tools = TOOL_NAMES.map((name) => ({ name, input_schema: SCHEMA }));
    const { events } = messages.runStream(pieces, { tools }, profile);
    if (checkMessageStream(events) !== "message_stop") throw new Error("the message did not end");
    const lines = messages.summarize(events);
    const calls: string[] = [];
    for (const line of lines) {
      if (line.startsWith("start tool_use ")) calls.push(`${line.split(" ").at(-1)} `);
      if (line.startsWith("input_json ")) calls.push(`${calls.pop()}${line.slice("input_json ".length)}`);
    }
    const joined = (kind: string): string =>
      lines.flatMap((line) => (line.startsWith(`${kind} `) ? [line.slice(kind.length + 1)] : [])).join("");
    return { thinking: joined("thinking"), text: joined("text"), calls };
  },
  whole(completion, profile) {
    const tools = TOOL_NAMES.map((name) => ({ name, input_schema: SCHEMA }));
    const { content } = messages.toMessage(
      completion as Readonly<Record<string, unknown>>,
      { tools },
      profile,
    );
    return {
      thinking: content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])).join(""),
      text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
      calls: content.flatMap((block) =>
        block.type === "tool_use" ? [`${block.name} ${JSON.stringify(block.input)}`] : [],
      ),
    };
  },
};

const RESPONSES: HearingRoute = {
  name: "responses",
  stream(pieces, profile) {
    const tools = TOOL_NAMES.map((name) => ({ type: "function", name, parameters: SCHEMA }));
    const { events, response } = responses.runStream(pieces, { tools }, profile);
    if (checkResponseStream(events) !== "response.completed") throw new Error("the response did not end");
    return hearItems(response?.output ?? []);
  },
  whole(completion, profile) {
    const tools = TOOL_NAMES.map((name) => ({ type: "function", name, parameters: SCHEMA }));
    const body = completion as Readonly<Record<string, unknown>>;
    return hearItems(responses.toResponse(body, { tools }, profile).output);
  },
};

function hearItems(output: readonly unknown[]): HeardAnswer {
  const heard = { thinking: "", text: "", calls: [] as string[] };
  for (const item of output as Readonly<Record<string, unknown>>[]) {
    const parts = (item["content"] ?? []) as { text: string }[];
    const text = parts.map((part) => part.text).join("");
    if (item["type"] === "reasoning") heard.thinking += text;
    else if (item["type"] === "message") heard.text += text;
    else heard.calls.push(`${String(item["name"])} ${String(item["arguments"])}`);
  }
  return heard;
}

export const HEARING_ROUTES: readonly HearingRoute[] = [MESSAGES, RESPONSES];
