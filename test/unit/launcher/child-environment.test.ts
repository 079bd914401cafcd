import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { environmentFor } from "../../../src/operation/launcher/stack.ts";

const env = { PATH: "/bin", LOCAL_KEY: "one", SHARED: "two", REDIS_PASSWORD: "three", OPERATOR: "four" };
const config = parseConfig(
  `
admin: { operator_token: { env: OPERATOR } }
redis: { url: "redis://127.0.0.1:6379", password: { env: REDIS_PASSWORD } }
upstreams:
  - { name: local, url: "http://127.0.0.1:8000", credential: { env: LOCAL_KEY } }
  - { name: other, url: "http://127.0.0.1:8001", credential: { env: SHARED } }
notifications: { smtp: { url: "smtp://mail.example", from: "a@example.com", username: u, password: { env: SHARED } } }
catalog:
  - id: acme/echo
    upstream: local
    context_window: 1000
    max_output_tokens: 100
    prices: { USD: { input: "1", cached_input: "1", output: "1" } }
`,
  { baseDir: "/srv/gateway", env },
);

describe("environmentFor", () => {
  it.each([
    { child: "redis", names: ["PATH"] },
    { child: "envoy", names: ["PATH"] },
    { child: "serve", names: ["OPERATOR", "PATH", "REDIS_PASSWORD", "SHARED"] },
  ] as const)("leaves $child only the secrets that are its own", ({ child, names }) => {
    expect(Object.keys(environmentFor(child, config, env)).sort()).toEqual([...names]);
  });
});
