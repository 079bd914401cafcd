/** The Envoys that the gateway is compared with: what is made of its bootstrap is a configuration that Envoy takes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { parseConfig } from "../../src/shared/config/load.ts";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { putAiGatewayIn } from "../bench/ai-gateway-pair.ts";
import { type Mock, startMock } from "../bench/mock.ts";
import { takeGatewayOut } from "../bench/plain-envoy.ts";
import { CHAT_PATH, chatBody } from "../bench/workloads.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { send } from "../support/http.ts";
import { type EditableBootstrap, type SideEnvoy, startSideEnvoy } from "../support/side-envoy.ts";

const UPSTREAM = "mock";
const dir = mkdtempSync(join(tmpdir(), "igw-bench-envoys-"));
let mock: Mock;
let envoy: SideEnvoy | null = null;

beforeAll(async () => {
  mock = await startMock();
});
afterEach(async () => {
  await envoy?.stop();
  envoy = null;
});
afterAll(async () => {
  await mock.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function startWith(edit: (bootstrap: EditableBootstrap) => void): Promise<SideEnvoy> {
  const upstream = { name: UPSTREAM, url: `http://127.0.0.1:${mock.port}`, path_prefix: "/v1" };
  const text = JSON.stringify({ upstreams: [upstream], catalog: [catalogEntry({ upstream: UPSTREAM })] });
  const config = parseConfig(text, { baseDir: dir, secrets: "none" });
  envoy = await startSideEnvoy({ bootstrap: renderBootstrap(config), dir, name: "side", edit });
  return envoy;
}

const chat = ({ baseUrl }: SideEnvoy) =>
  send(baseUrl, { method: "POST", path: CHAT_PATH, body: JSON.parse(chatBody(1_024)) as object });

it("plain Envoy passes every request to the mock", async () => {
  const plain = await startWith((bootstrap) => takeGatewayOut(bootstrap, UPSTREAM));
  expect((await chat(plain)).status).toBe(200);
});

it("Envoy AI Gateway's passes no request without its ext_proc server", async () => {
  const socketPath = join(dir, "nobody.sock");
  const other = await startWith((bootstrap) => putAiGatewayIn(bootstrap, UPSTREAM, socketPath));
  expect((await chat(other)).status).toBeGreaterThanOrEqual(500);
  expect((await send(other.baseUrl, { path: "/v1/models" })).status).toBe(404);
});
