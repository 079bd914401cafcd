import { describe, expect, it } from "vitest";
import { listUpstreamProtocols } from "../../../src/data-path/catalog/upstream-protocols.ts";

describe("listUpstreamProtocols", () => {
  it.each([
    [[], ["chat", "messages"]],
    [
      ["tools", "vision"],
      ["chat", "messages"],
    ],
    [["completions"], ["completions"]],
    [
      ["completions", "chat"],
      ["chat", "messages", "completions"],
    ],
    [["embeddings"], ["embeddings"]],
    [["embeddings", "vision"], ["embeddings"]],
    [
      ["embeddings", "chat"],
      ["chat", "messages", "embeddings"],
    ],
    [
      ["embeddings", "completions"],
      ["completions", "embeddings"],
    ],
  ])("of %j are %j", (capabilities, protocols) => {
    expect([...listUpstreamProtocols(capabilities, ["chat", "messages"])]).toEqual(protocols);
  });
});
