import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { parseConfig } from "../../../../src/shared/config/load.ts";
import { findRestartFields } from "../../../../src/shared/config/reload/restart-fields.ts";

const good = readFileSync(new URL("../../../fixtures/config/good.yaml", import.meta.url), "utf8");
const parse = (text: string) => parseConfig(text, { baseDir: "/etc/gateway", env: {}, secrets: "none" });

describe("findRestartFields", () => {
  it.each([
    { name: "nothing", change: (text: string) => `# a comment\n${text}`, fields: [] },
    { name: "a price", change: (text: string) => text.replace("10.00", "11.00"), fields: [] },
    {
      name: "a limit",
      change: (text: string) => `${text}limits: {max_body_bytes: 2048}\n`,
      fields: ["limits.max_body_bytes"],
    },
    {
      name: "identity providers",
      change: (text: string) =>
        `${text}jwt: {providers: [{name: corp, issuer: "https://a", audiences: [b], jwks: {file: k}, organization: org_a}]}\n`,
      fields: ["jwt.providers[0]"],
    },
    {
      name: "an upstream's port",
      change: (text: string) => text.replace("8000", "8001"),
      fields: ["upstreams.local.url"],
    },
    {
      name: "a further upstream",
      change: (text: string) => text.replace("catalog:", '  - {name: b, url: "http://b"}\ncatalog:'),
      fields: ["upstreams.b"],
    },
    {
      name: "nothing when another upstream comes before, and that one",
      change: (text: string) => text.replace("upstreams:\n", 'upstreams:\n  - {name: b, url: "http://b"}\n'),
      fields: ["upstreams.b"],
    },
    {
      name: "where a secret is kept",
      change: (text: string) => `${text}admin: {operator_token: {env: TOKEN}}\n`,
      fields: ["admin.operator_token"],
    },
    {
      name: "an upstream's one URL that becomes endpoints with weights",
      change: (text: string) =>
        text.replace(
          'url: "http://127.0.0.1:8000"',
          'endpoints: [{url: "http://127.0.0.1:8000", weight: 2}, {url: "http://127.0.0.1:8001"}]',
        ),
      fields: ["upstreams.local.url", "upstreams.local.endpoints"],
    },
    {
      name: "nothing where the one URL is written as an endpoint",
      change: (text: string) =>
        text.replace('url: "http://127.0.0.1:8000"', 'endpoints: [{url: "http://127.0.0.1:8000"}]'),
      fields: [],
    },
    {
      name: "an upstream's health check",
      change: (text: string) => text.replace("catalog:", "    health_check: {path: /health}\ncatalog:"),
      fields: ["upstreams.local.health_check"],
    },
    {
      name: "an upstream's credential and its header",
      change: (text: string) =>
        text.replace("catalog:", "    credentials: [{env: KEY, header: api-key}]\ncatalog:"),
      fields: ["upstreams.local.credential"],
    },
    {
      name: "a whole section",
      change: (text: string) => `${text}redis: {url: "redis://r"}\n`,
      fields: ["redis"],
    },
  ])("names $name", ({ change, fields }) => {
    expect(findRestartFields(parse(good), parse(change(good)))).toEqual(fields);
  });

  it("takes the same reference to a secret as no change", () => {
    const text = `${good}admin: {operator_token: {env: TOKEN}}\n`;
    expect(findRestartFields(parse(text), parse(text))).toEqual([]);
  });
});
