import { describe, expect, it } from "vitest";
import {
  limitBetas,
  namesToRemoveDownstream,
  namesToRemoveUpstream,
} from "../../../src/data-path/exchange/upstream/header-policy.ts";

describe("namesToRemoveUpstream", () => {
  it("takes off credentials, the client's traces and what the gateway answers for", () => {
    const names = [
      "authorization",
      "x-api-key",
      "api-key",
      "x-goog-api-key",
      "proxy-authorization",
      "cookie",
      "x-stainless-lang",
      "anthropic-version",
      "anthropic-beta",
      "openai-organization",
      "x-openai-internal-codex-responses-lite",
      "x-codex-turn-metadata",
      "session-id",
      "thread-id",
      "originator",
      "x-client-request-id",
      "forwarded",
      "expect",
      "te",
      "upgrade",
      "accept-encoding",
    ];
    expect(namesToRemoveUpstream(names)).toEqual(names);
    expect(namesToRemoveUpstream([...names, ...names])).toEqual(names);
  });

  it("takes off what nobody knows, however often it comes", () => {
    expect(namesToRemoveUpstream(["x-custom", "x-custom", "accept"])).toEqual(["x-custom"]);
    expect(namesToRemoveUpstream(["x-custom"])).toEqual(["x-custom"]);
    const long = `x-${"a".repeat(100)}`;
    expect(namesToRemoveUpstream([long])).toEqual([long]);
  });

  it("leaves what every upstream gets, and what Envoy needs until then", () => {
    const names = [":path", "content-type", "content-length", "accept", "user-agent", "x-request-id"];
    const trace = ["traceparent", "tracestate", "b3", "x-b3-traceid"];
    const envoys = ["x-igw-path", "x-forwarded-proto", "x-envoy-original-path"];
    expect(namesToRemoveUpstream([...names, ...trace, ...envoys])).toEqual([]);
  });

  it("leaves what the protocol and the operator name", () => {
    const names = ["anthropic-version", "x-session", "anthropic-beta"];
    expect(namesToRemoveUpstream(names, ["anthropic-version", "x-session"])).toEqual(["anthropic-beta"]);
  });
});

describe("limitBetas", () => {
  it.each([
    ["a-2025-01-01,context-1m-2025-08-07,b", 200_000, "a-2025-01-01,b"],
    ["context-1m-2025-08-07", 200_000, ""],
    ["a, Context-500K-x", 200_000, "a"],
    ["context-1m", 999_999, ""],
    ["context-1m-2025-08-07", 1_000_000, "context-1m-2025-08-07"],
    ["context-management-2025-06-27,interleaved-thinking-2025-05-14", 8_000, null],
    ["context-200k-2026-01-01", 200_000, null],
  ])("leaves of %s what a window of %d tokens has room for", (betas, window, kept) => {
    expect(limitBetas(betas, window)).toBe(kept ?? betas);
  });
});

describe("namesToRemoveDownstream", () => {
  it("lets only three headers of an upstream pass", () => {
    const names = [
      ":status",
      "content-type",
      "cache-control",
      "date",
      "set-cookie",
      "server",
      "x-ratelimit-limit",
    ];
    const removed = ["set-cookie", "server", "x-ratelimit-limit"];
    expect(namesToRemoveDownstream(names)).toEqual(removed);
    expect(namesToRemoveDownstream([...names, ...names])).toEqual(removed);
  });
});
