import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Message } from "../../../../src/data-path/translation/messages-to-chat/message.ts";
import type { ChatMessage } from "../../../../src/data-path/translation/conversation/chat-request.ts";
import { parseMessageEvents } from "../../../support/messages-protocol-checker.ts";
import {
  assistantBlocks,
  chunk,
  completion,
  createAnswer,
  decode,
  DONE,
  encode,
  FINISH,
  runStream,
  summarize,
  toChatMessages,
  toMessage,
  toolChunk,
} from "../../../support/messages-exchange.ts";

const OMITTED = { thinking: { type: "adaptive", display: "omitted" } };
const KIBIBYTE = 1_024;

function pack(text: string | Uint8Array): string {
  return `gw1.${deflateSync(text).toString("base64url")}`;
}

/** What a model thinks, in a form that does not compress to nothing. */
function thoughts(bytes: number): string {
  let text = "";
  for (let index = 0; text.length < bytes; index += 1) text += `${(index * 2_654_435_761) % 4_294_967_296} `;
  return text.slice(0, bytes);
}

function answerTo(message: object, fields = OMITTED, profile: object = {}): Message {
  return toMessage(completion({ ...message }), fields, profile);
}

/** The assistant message that the upstream gets when the client sends this content back. */
function replay(content: Message["content"], profile: object = {}): ChatMessage {
  const messages = [
    { role: "user", content: "Hello" },
    { role: "assistant", content },
    { role: "user", content: "Go on." },
  ];
  return toChatMessages(messages, profile)[1]!;
}

function block(signature: unknown): object {
  return { type: "thinking", thinking: "", signature };
}

describe("reasoning that the client does not read", () => {
  it("[thinking.omitted] comes in a block without text, and goes back to the upstream", () => {
    const message = { reasoning_content: "Grüße 🌍, hm.", content: "Hi" };
    const { content } = answerTo(message);
    expect(content).toEqual([
      { type: "thinking", thinking: "", signature: expect.stringMatching(/^gw1\.[\w-]+$/u) as string },
      { type: "text", text: "Hi" },
    ]);
    expect(replay(content)).toEqual({ role: "assistant", ...message });
    expect(replay(content, { reasoningHistory: "reasoning" })).toMatchObject({ reasoning: "Grüße 🌍, hm." });
  });

  it("[thinking.omitted] is streamed as the block's signature alone", () => {
    const reasoning = ["h", "m", "."].map((text) => chunk({ reasoning_content: text }));
    const { events } = runStream([...reasoning, chunk({ content: "Hi" }), FINISH, DONE], OMITTED);
    expect(summarize(events)).toEqual([
      "message_start",
      "start thinking",
      `signature ${signatureOf("hm.")}`,
      "stop",
      "start text",
      "text Hi",
      "stop",
      "end end_turn",
      "message_stop",
    ]);
  });

  it("[thinking.omitted] has a signature for each of its blocks", () => {
    const pieces = [
      chunk({ reasoning_content: "one" }),
      toolChunk({ index: 0, id: "c", name: "f", arguments: "{}" }),
      chunk({ reasoning_content: "two" }),
      chunk({ content: "Hi" }),
      FINISH,
      DONE,
    ];
    const lines = summarize(runStream(pieces, OMITTED).events);
    expect(lines.filter((line) => line.startsWith("signature"))).toEqual([
      `signature ${signatureOf("one")}`,
      `signature ${signatureOf("two")}`,
    ]);
  });

  it("[thinking.omitted] is played from a whole answer without a delta of text", () => {
    const events = playedEvents({ reasoning_content: "hm", content: "Hi" });
    expect(events.slice(1, 4)).toEqual(["start thinking", `signature ${signatureOf("hm")}`, "stop"]);
  });

  it("[thinking.omitted] is carried though the upstream signs it", () => {
    const thinking_blocks = [{ type: "thinking", thinking: "hm", signature: "upstream" }];
    const { content } = answerTo({ reasoning_content: "hm", thinking_blocks, content: "Hi" });
    expect(replay(content)).toMatchObject({ reasoning_content: "hm" });
  });

  it("[thinking.omitted] is not carried beside its text", () => {
    const { content } = answerTo(
      { reasoning_content: "hm", content: "Hi" },
      {
        thinking: { type: "adaptive", display: "summarized" },
      },
    );
    expect(content[0]).toMatchObject({
      thinking: "hm",
      signature: expect.stringMatching(/^gw\./u) as string,
    });
    const both = { type: "thinking", thinking: "shown", signature: pack("carried") };
    expect(assistantBlocks(both, { type: "text", text: "Hi" })).toMatchObject([
      { reasoning_content: "shown" },
    ]);
  });

  it("[thinking.carried_bounds] is carried up to 512 KiB, and beyond it not at all", () => {
    const most = thoughts(512 * KIBIBYTE);
    expect(replay(answerTo({ reasoning_content: most }).content)).toMatchObject({ reasoning_content: most });
    const { content } = answerTo({ reasoning_content: `${most}.`, content: "Hi" });
    expect(content[0]).toMatchObject({ thinking: "", signature: expect.stringMatching(/^gw\./u) as string });
    expect(replay(content)).toEqual({ role: "assistant", content: "Hi" });
  });

  it("[thinking.carried_bounds] is not carried to an upstream that does not want it back", () => {
    const { content } = answerTo({ reasoning_content: "hm" }, OMITTED, { reasoningHistory: "drop" });
    expect(content).toEqual([block(expect.stringMatching(/^gw\.[\w-]+$/u))]);
    expect(assistantBlocks(...content, { type: "text", text: "Hi" })).toEqual([
      { role: "assistant", content: "Hi" },
    ]);
  });

  const whole = pack("hm");
  it.each([
    { name: "none", signature: undefined },
    { name: "no string", signature: 7 },
    { name: "another server's", signature: "ErUBCkYIBRgCIkBq" },
    { name: "a hash of the text", signature: "gw.47DEQpj8HBSa" },
    { name: "empty", signature: "gw1." },
    { name: "no base64", signature: "gw1.***" },
    { name: "cut off", signature: whole.slice(0, -4) },
    { name: "damaged", signature: `${whole.slice(0, 8)}_${whole.slice(9)}` },
    { name: "no UTF-8", signature: pack(Uint8Array.of(0xff, 0xfe)) },
    { name: "of a text that is too long", signature: pack("x".repeat(512 * KIBIBYTE + 1)) },
    { name: "a bomb", signature: pack(new Uint8Array(64 * KIBIBYTE * KIBIBYTE)) },
    { name: "endless", signature: `gw1.${"A".repeat(8 * KIBIBYTE * KIBIBYTE)}` },
  ])("[thinking.carried_bounds] a signature that is $name is left out", ({ signature }) => {
    expect(assistantBlocks(block(signature), { type: "text", text: "Hi" })).toEqual([
      { role: "assistant", content: "Hi" },
    ]);
  });

  it("[thinking.carried_bounds] many bombs of one request unpack to 4 MiB together", () => {
    const bomb = block(pack("x".repeat(512 * KIBIBYTE)));
    const bombs = Array.from({ length: 10_000 }, () => bomb);
    const [message] = assistantBlocks(...bombs) as readonly { reasoning_content: string }[];
    const { length } = message!.reasoning_content.replaceAll("\n", "");
    expect(length).toBe(4 * KIBIBYTE * KIBIBYTE);
  });

  it("[thinking.carried_bounds] broken signatures are not tried without end", () => {
    const broken = Array.from({ length: 8 }, () => block("gw1.AAAA"));
    expect(assistantBlocks(...broken, block(pack("hm")), { type: "text", text: "Hi" })).toEqual([
      { role: "assistant", content: "Hi" },
    ]);
  });
});

/** What `text` is packed into by the gateway. */
function signatureOf(text: string): string {
  const [first] = answerTo({ reasoning_content: text, content: "Hi" }).content;
  return first?.type === "thinking" ? first.signature : "";
}

/** A JSON answer to a streaming request, as the events that the client gets. */
function playedEvents(message: Readonly<Record<string, unknown>>): string[] {
  const { bytes } = createAnswer({ ...OMITTED, stream: true }).translateBody(encode(completion(message)));
  return summarize(parseMessageEvents(decode(bytes)));
}
