import { describe, expect, it } from "vitest";
import { namesToRemoveDownstream, namesToRemoveUpstream } from "../../../src/exchange/header-policy.ts";

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

  it("leaves everything else, pseudo-headers included", () => {
    expect(
      namesToRemoveUpstream([
        ":path",
        "content-type",
        "user-agent",
        "x-custom",
        "x-igw-path",
        "x-forwarded-proto",
      ]),
    ).toEqual([]);
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
