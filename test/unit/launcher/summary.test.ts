import { describe, expect, it } from "vitest";
import { formatJsonLine, formatSummary } from "../../../src/operation/launcher/summary.ts";
import { formatLocalUrl } from "../../../src/shared/host/local-url.ts";

const FACTS = {
  baseUrl: "http://127.0.0.1:10000",
  adminUrl: "http://127.0.0.1:10001",
  adminToken: "igw_op_x",
  demoKey: "sk-igw-x",
  model: "demo/echo",
  logDir: "/srv/data/logs",
  dataDir: "/srv/data",
  manageCommand: "npx inference-gateway org list",
};

describe("formatJsonLine", () => {
  it("is one line with the four names that programs read", () => {
    expect(formatJsonLine(FACTS)).toBe(
      '{"base_url":"http://127.0.0.1:10000","admin_url":"http://127.0.0.1:10001","admin_token":"igw_op_x","demo_key":"sk-igw-x"}',
    );
  });
});

describe("formatSummary", () => {
  it("has both base URLs, the key, the dashboard, and a request to paste", () => {
    const text = formatSummary(FACTS);
    expect(text).toMatch(/OpenAI base URL +http:\/\/127\.0\.0\.1:10000\/v1\n/);
    expect(text).toMatch(/Anthropic base URL +http:\/\/127\.0\.0\.1:10000\n/);
    expect(text).toContain("http://127.0.0.1:10001");
    expect(text).toContain(": npx inference-gateway org list (");
    expect(text).toContain(`-d '{"model":"demo/echo","messages":[{"role":"user","content":"Hello!"}]}'`);
  });
});

describe("formatLocalUrl", () => {
  it.each([
    { host: "127.0.0.1", url: "http://127.0.0.1:80" },
    { host: "0.0.0.0", url: "http://127.0.0.1:80" },
    { host: "::", url: "http://[::1]:80" },
    { host: "::1", url: "http://[::1]:80" },
    { host: "gateway.internal", url: "http://gateway.internal:80" },
  ])("names $host as a client here reaches it", ({ host, url }) => {
    expect(formatLocalUrl(host, 80)).toBe(url);
  });
});
