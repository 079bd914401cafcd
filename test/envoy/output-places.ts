/** Places of an answer to which servers write text, on each route. */
import type { UpstreamProtocol } from "../../src/shared/contract/model-profile.ts";
import { CHAT_PATH } from "../support/chat-stack.ts";
import { namedEvent } from "../support/native-exchange.ts";
import { textChunk, textCompletion } from "../support/scripted-answer.ts";

export const OUTPUT_TOKENS = 100;

const TEXT = " word".repeat(OUTPUT_TOKENS);
const DETAILS = [{ type: "reasoning.text", text: TEXT, index: 0, format: "unknown" }];
const CUSTOM = { type: "custom_tool_call", id: "i", call_id: "c", name: "run", input: TEXT };
const REASONING = { type: "reasoning", id: "i", summary: [{ type: "summary_text", text: TEXT }] };

const CHAT_PLACES: readonly [string, object][] = [
  ["reasoning_details", { reasoning_details: DETAILS }],
  ["reasoning in three fields", { reasoning: TEXT, reasoning_content: TEXT, reasoning_details: DETAILS }],
  ["a custom tool's input", { tool_calls: [{ index: 0, id: "c", type: "custom", custom: { input: TEXT } }] }],
  ["a transcript", { audio: { id: "a", data: "AAAA", transcript: TEXT } }],
  ["a refusal", { refusal: TEXT }],
  ["a field of tomorrow", { of_tomorrow: { parts: [{ words: TEXT }] } }],
];

export interface OutputPlace {
  readonly name: string;
  /** What the upstream speaks. */
  readonly upstream: UpstreamProtocol;
  readonly path: string;
  readonly body: object;
  /** A stream that ends before its usage. */
  readonly stream: string;
  /** The whole answer, of which no usage tells. */
  readonly whole: object;
}

const MESSAGES = { max_tokens: 200, messages: [{ role: "user", content: "hello" }] };
const CHAT_CLIENTS = [
  { path: CHAT_PATH, body: { messages: MESSAGES.messages } },
  { path: "/v1/messages", body: MESSAGES },
  { path: "/v1/responses", body: { input: "hello" } },
];

function chatPlaces(): OutputPlace[] {
  return CHAT_CLIENTS.flatMap(({ path, body }) =>
    CHAT_PLACES.map(([name, fields]) => {
      const message = { role: "assistant", content: "", ...fields };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      const chunk = textChunk("", { choices: [{ index: 0, delta: message, finish_reason: null }] });
      const stream = `data: ${JSON.stringify(chunk)}\n\n`;
      return {
        name: `${path}: ${name}`,
        upstream: "chat",
        path,
        body,
        stream,
        whole: textCompletion("", null, { choices }),
      };
    }),
  );
}

function messagesPlaces(): OutputPlace[] {
  const blocks: readonly [string, object][] = [
    ["a compaction", { type: "compaction", content: TEXT }],
    ["thinking that comes whole", { type: "thinking", thinking: TEXT, signature: "c2ln" }],
    ["a block of tomorrow", { type: "thing", thing: { words: TEXT } }],
  ];
  return blocks.map(([name, block]) => ({
    name: `messages: ${name}`,
    upstream: "messages",
    path: "/v1/messages",
    body: MESSAGES,
    stream: namedEvent("content_block_start", { index: 0, content_block: block }),
    whole: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "up",
      content: [block],
      stop_reason: "end_turn",
    },
  }));
}

function responsesPlaces(): OutputPlace[] {
  const items: readonly [string, object, string][] = [
    [
      "a custom tool's input",
      CUSTOM,
      namedEvent("response.output_item.done", { output_index: 0, item: CUSTOM }),
    ],
    [
      "reasoning without deltas",
      REASONING,
      namedEvent("response.output_item.done", { output_index: 0, item: REASONING }),
    ],
    [
      "a transcript",
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_audio", transcript: TEXT, data: "AAAA" }],
      },
      namedEvent("response.audio.transcript.delta", { delta: TEXT }),
    ],
    [
      "an item of tomorrow",
      { type: "thing", thing: TEXT },
      namedEvent("response.thing.done", { output_index: 0, thing: TEXT }),
    ],
  ];
  return items.map(([name, item, stream]) => ({
    name: `responses: ${name}`,
    upstream: "responses",
    path: "/v1/responses",
    body: { input: "hello" },
    stream,
    whole: { id: "resp_1", object: "response", status: "completed", model: "up", output: [item] },
  }));
}

export const OUTPUT_PLACES = [...chatPlaces(), ...messagesPlaces(), ...responsesPlaces()];
