import { describe, expect, it } from "vitest";
import { createModel, decode } from "../../../support/messages-exchange.ts";
import { type NativeProtocol, parseNative } from "../../../support/native-exchange.ts";

/** What reaches the upstream, but for the model's name. */
const passed = (name: NativeProtocol, text: string) =>
  decode(parseNative(name, text).toUpstream(createModel())).replace('"echo-7b"', '"acme/echo"');

const FOREIGN = ["functions.get:0", "call|x.1", "a b", "x".repeat(65), "ünïcode"];
const ACCEPTED = ["toolu_01A", "call_1-b", "x".repeat(64)];

/** The ids in an upstream's body, each with the text around it taken away. */
const idsIn = (text: string): string[] =>
  [...text.matchAll(/"(?:id|tool_use_id|call_id)" ?: ?"((?:toolu_|call_|x)[\w-]*)"/g)].map(
    ([, id]) => id ?? "",
  );

describe("[native.call_ids] ids of calls that another model's server made", () => {
  const messages = (ids: readonly string[]) => {
    const uses = ids.map(
      (id) => `{ "type":"tool_use","id" : ${JSON.stringify(id)},"name":"get","input":{"n":1.50}}`,
    );
    const results = ids.map(
      (id) => `{"type":"tool_result", "tool_use_id":${JSON.stringify(id)},"content":"r"}`,
    );
    return `{"model":"acme/echo","max_tokens":5,"messages":[{"role":"user","content":"a"}, {"role":"assistant","content":[${uses.join(" , ")}]},{"role":"user","content":[${results.join(",")}] }] }`;
  };

  it("get another form on messages, calls and results alike, and all else stays", () => {
    const sent = messages([...FOREIGN, ...ACCEPTED]);
    const received = passed("messages", sent);
    const ids = idsIn(received);
    const half = ids.length / 2;
    expect(ids.slice(0, half)).toEqual(ids.slice(half));
    expect(new Set(ids).size).toBe(FOREIGN.length + ACCEPTED.length);
    expect(ids.slice(FOREIGN.length, half)).toEqual(ACCEPTED);
    const all = [...FOREIGN, ...ACCEPTED];
    const restored = all.reduce(
      (text, id, place) => text.replaceAll(`"${ids[place]}"`, JSON.stringify(id)),
      received,
    );
    expect(restored).toBe(sent);
    expect(passed("messages", sent)).toBe(received);
  });

  it("[responses.native.call_ids] get another form on responses", () => {
    const items = FOREIGN.flatMap((id) => [
      { type: "function_call", call_id: id, name: "get", arguments: "{}" },
      { type: "function_call_output", call_id: id, output: "r" },
    ]);
    const received = passed("responses", JSON.stringify({ model: "acme/echo", input: items }));
    const ids = idsIn(received);
    expect(ids).toHaveLength(2 * FOREIGN.length);
    for (const [place, id] of ids.entries()) expect(id).toBe(ids[place - (place % 2)]);
  });

  it("that are accepted leave the body as it came", () => {
    const sent = messages(ACCEPTED);
    expect(passed("messages", sent)).toBe(sent);
  });
});
