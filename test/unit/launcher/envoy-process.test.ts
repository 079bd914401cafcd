import { describe, expect, it } from "vitest";
import { countActiveRequests } from "../../../src/operation/launcher/envoy-process.ts";

describe("countActiveRequests", () => {
  it("adds up the listeners and leaves Envoy's own admin interface out", () => {
    const stats =
      "http.admin.downstream_rq_active: 1\nhttp.gateway.downstream_rq_active: 2\nhttp.b.downstream_rq_active: 3\n";
    expect(countActiveRequests(stats)).toBe(5);
  });

  it("is 0 for an answer that it does not know", () => {
    expect(countActiveRequests("no such stats")).toBe(0);
  });
});
