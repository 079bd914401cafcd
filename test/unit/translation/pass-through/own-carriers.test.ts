import { describe, expect, it } from "vitest";
import { packReasoning } from "../../../../src/data-path/translation/conversation/carried-reasoning.ts";
import { packSummary } from "../../../../src/data-path/translation/conversation/compaction.ts";
import { createModel, decode, describeError } from "../../../support/messages-exchange.ts";
import { type NativeProtocol, parseNative } from "../../../support/native-exchange.ts";

const PACKED = packReasoning(Buffer.from("deep thought"));

/** What reaches the upstream, but for the model's name. */
const passed = (name: NativeProtocol, text: string) =>
  decode(parseNative(name, text).toUpstream(createModel())).replace('"echo-7b"', '"acme/echo"');

describe("a session that has changed its model to one whose server speaks the client's protocol", () => {
  const HEAD = '{"model":"acme/echo","max_tokens":5,"big":12345678901234567890, "messages": [';
  const USER = '{"role":"user","content":"hi"}';
  const thinking = (signature: string) =>
    `{ "type":"thinking", "thinking":"T\\u00e9", "signature":${JSON.stringify(signature)} }`;
  const assistant = (...blocks: string[]) => `{"role":"assistant", "content": [${blocks.join(" , ")}]}`;
  const TEXT = '{"type":"text","text":"x","tomorrow":1.50}';

  it("[native.own_thinking] sends no thinking that this gateway has signed, and all else as it came", () => {
    const foreign = thinking("EqQBCgIYAhIM");
    const message = (...blocks: string[]) => `${HEAD}${USER} , ${assistant(...blocks)},${USER}] }`;
    for (const own of ["gw.GF59wG-Z1n", PACKED, "\u0067w.abc"].map(thinking)) {
      expect(passed("messages", message(own, TEXT))).toBe(message(TEXT));
      expect(passed("messages", message(TEXT, own))).toBe(message(TEXT));
      expect(passed("messages", message(foreign, own, TEXT))).toBe(message(foreign, TEXT));
      expect(passed("messages", message(own, own, TEXT))).toBe(message(TEXT));
      // Of a message that held nothing else an empty one would be refused.
      expect(passed("messages", message(own))).toBe(`${HEAD}${USER},${USER}] }`);
    }
    expect(passed("messages", message(foreign, TEXT))).toBe(message(foreign, TEXT));
  });

  it("[responses.native.own_reasoning] sends no reasoning that this gateway has packed", () => {
    const item = (carrier: string) =>
      `{"type":"reasoning","id":"rs_1","summary":[], "encrypted_content":"${carrier}"}`;
    const body = (...items: string[]) => `{"model":"acme/echo","input":[${items.join(", ")}]}`;
    expect(passed("responses", body(USER, item(PACKED), USER))).toBe(body(USER, USER));
    expect(passed("responses", body(item(PACKED), item("gAAAAABo"), USER))).toBe(
      body(item("gAAAAABo"), USER),
    );
    expect(passed("responses", body(item(PACKED)))).toBe(body());
  });

  it("[responses.native.own_compaction] sends the summary that this gateway has packed as text, and another's as it is", () => {
    const item = (carrier: string) => `{ "type":"compaction","id":"cmp_1", "encrypted_content":"${carrier}"}`;
    const body = (...items: string[]) => `{"model":"acme/echo","input":[${items.join(" , ")}] }`;
    const text = "The conversation up to here was replaced by this summary of it:\n\nS: é";
    const message = { type: "message", role: "user", content: [{ type: "input_text", text }] };
    const own = packSummary(Buffer.from("S: é")) ?? "";
    const reasoning = `{"type":"reasoning","encrypted_content":"${PACKED}"}`;
    expect(passed("responses", body(reasoning, USER, item(own), reasoning, item("gAAAAABo")))).toBe(
      body(USER, JSON.stringify(message), item("gAAAAABo")),
    );
    expect(describeError(() => passed("responses", body(USER, item(own.slice(0, -6)))))).toMatch(
      /^400 unsupported_parameter input\[1\]: a 'compaction' item can only be read/,
    );
  });

  it("is measured without it", () => {
    const own = thinking("gw.a").replace("T", "T".repeat(90_000));
    const request = parseNative("messages", `${HEAD}${USER},${assistant(own, TEXT)}]}`);
    expect(request.promptSize().textBytes).toBeLessThan(1_000);
  });
});
