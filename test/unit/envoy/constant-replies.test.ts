import { describe, expect, it } from "vitest";
import { PROCESS } from "../../../src/envoy/messages/codec.ts";
import { GENERIC_PROCESS } from "../../../src/envoy/messages/generic-codec.ts";
import { createStreamStartReply, NOTHING_IN } from "../../../src/envoy/messages/format-replies.ts";

const startOfStream = () =>
  createStreamStartReply({ set: [["content-type", "text/event-stream"]], remove: ["date", "server"] });

describe("a constant reply", () => {
  it.each([
    ...Object.entries(NOTHING_IN).map(([name, reply]) => ({ name: `NOTHING_IN.${name}`, reply })),
    { name: "the start of a stream", reply: startOfStream() },
  ])("is encoded once, as the generic encoder does it: $name", ({ reply }) => {
    const bytes = PROCESS.encodeResponse(reply);
    expect(bytes.toString("hex")).toBe(GENERIC_PROCESS.encodeResponse(reply).toString("hex"));
    expect(PROCESS.encodeResponse(reply)).toBe(bytes);
  });
});

describe("createStreamStartReply", () => {
  it("gives the same reply for the same headers, and another for others", () => {
    const first = startOfStream();
    expect(startOfStream()).toBe(first);
    const others = [
      createStreamStartReply({ set: [[":status", "200"]], remove: ["date", "server"] }),
      createStreamStartReply({ set: [["content-type", "text/event-stream"]], remove: ["date"] }),
      createStreamStartReply({ set: [], remove: ["content-type", "text/event-stream", "date", "server"] }),
    ];
    const bytes = [first, ...others].map((reply) => PROCESS.encodeResponse(reply).toString("hex"));
    expect(new Set(bytes).size).toBe(4);
  });
});
