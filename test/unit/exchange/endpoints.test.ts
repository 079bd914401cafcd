import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createCustomersDocument } from "../../../src/management/admin/openapi/customers.ts";
import { ENDPOINTS, listServedEndpoints } from "../../../src/shared/contract/endpoints.ts";
import { findEndpoint } from "../../../src/data-path/exchange/admission/endpoints.ts";

describe("findEndpoint", () => {
  it.each([
    ["/v1/chat/completions", "chat_completions", "chat", null],
    ["/v1/chat/completions?x=1", "chat_completions", "chat", null],
    ["/v1/messages", "messages", "messages", null],
    ["/v1/messages?beta=true", "messages", "messages", null],
    ["/v1/messages/count_tokens?beta=true", "count_tokens", "messages", null],
    ["/v1/responses", "responses", "responses", null],
    ["/v1/responses/compact", "responses_compact", "responses", null],
    ["/v1/responses/input_tokens", "count_tokens", "responses", null],
    ["/v1/responses/resp_1", "unknown", "responses", null],
    ["/v1/key", "key", "chat", null],
    ["/v1/models", "models", "chat", null],
    ["/v1/models/acme/echo", "model", "chat", "acme/echo"],
    ["/v1/models/acme%2Fecho", "model", "chat", "acme/echo"],
    ["/v1/usage?from=2026-11-01", "usage", "chat", null],
    ["/v1/requests", "requests", "chat", null],
    ["/v1/requests?limit=5", "requests", "chat", null],
    ["/v1/requests/req_1", "request", "chat", "req_1"],
    ["/v1/messages/batches", "unknown", "messages", null],
    ["/v1/models/", "unknown", "chat", null],
    ["/v1/models/%ff", "unknown", "chat", null],
    ["/V1/chat/completions", "unknown", "chat", null],
    ["/v1/chat/completions/", "unknown", "chat", null],
    ["", "unknown", "chat", null],
  ])("reads %j as %s", (path, name, protocol, resource) => {
    const match = findEndpoint(path);
    expect([match.endpoint.name, match.endpoint.protocol, match.resource]).toEqual([
      name,
      protocol,
      resource,
    ]);
  });

  it("counts only the calls that cost money as metered", () => {
    const metered = [
      "/v1/chat/completions",
      "/v1/messages",
      "/v1/messages/count_tokens",
      "/v1/responses",
      "/v1/responses/compact",
      "/v1/responses/input_tokens",
      "/v1/key",
      "/v1/models",
    ].filter((path) => findEndpoint(path).endpoint.isMetered);
    expect(metered).toEqual([
      "/v1/chat/completions",
      "/v1/messages",
      "/v1/responses",
      "/v1/responses/compact",
    ]);
  });

  it.each(ENDPOINTS)(
    "reads the path of its table, $path, as its row says",
    ({ path: named, name, protocol, method }) => {
      const { endpoint } = findEndpoint(named.replace(/\{.*\}/, "some-id"));
      expect([endpoint.name, endpoint.protocol, endpoint.methods[0]]).toEqual([name, protocol, method]);
    },
  );

  it("has every endpoint that tells something in the clients' OpenAPI document", () => {
    const documented = Object.keys(createCustomersDocument()["paths"] as object);
    const telling = ENDPOINTS.filter(({ kind }) => kind === "tells").map(({ path }) => path);
    expect(documented.toSorted()).toEqual(telling.toSorted());
  });

  it("has every endpoint of clients in docs/api.md, with its method", () => {
    const page = readFileSync(path.resolve(import.meta.dirname, "../../../docs/api.md"), "utf8");
    for (const served of listServedEndpoints()) expect(page).toContain(`\`${served.replace(/\{.*/, "{")}`);
  });
});
