/** The whole stack as a person starts it: the real gateway, Envoy and Redis. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { type Child, startChild } from "../support/child.ts";
import { send, type SendOptions } from "../support/http.ts";
import { COMPANY_NAME } from "../../src/operation/demo/sample/company.ts";
import { startDemoUpstream } from "../../src/operation/demo/upstream.ts";
import {
  createTestFolder,
  endWithTest,
  listSurvivors,
  type StandInStack,
  stackIn,
  waitForReadyLine,
  writeTestConfig,
} from "./support/stand-in-stack.ts";

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const MESSAGES = [{ role: "user", content: "one two three four five six seven eight" }];

async function writeRealConfig(folder: string): Promise<string> {
  const upstream = await startDemoUpstream({ host: "127.0.0.1", port: 0, wordDelayMs: 60 });
  onTestFinished(() => upstream.close());
  return writeTestConfig(folder, {
    sidecar: { workers: 1 },
    upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1" }],
  });
}

interface StartOptions {
  /** The file, since npm runs in the repository; otherwise the folder's own `gateway.yaml` is found. */
  readonly byNpmWith?: string | null;
  /** The banner in place of a line of JSON. */
  readonly forPeople?: boolean;
  readonly more?: readonly string[];
}

function startUp(
  folder: string,
  { byNpmWith = null, forPeople = false, more = [] }: StartOptions = {},
): StandInStack {
  const args = [...(forPeople ? [] : ["--json"]), ...more];
  const child: Child =
    byNpmWith === null
      ? startChild(process.execPath, [join(REPOSITORY, "src/operation/setup/start.js"), ...args], {
          cwd: folder,
        })
      : startChild("npm", ["start", "--silent", "--", "--config", byNpmWith, ...args], { cwd: REPOSITORY });
  endWithTest(child);
  return stackIn(folder, child);
}

type Ready = StandInStack & { readonly ready: Record<string, string> };

async function startReal(folder: string, options: StartOptions = {}): Promise<Ready> {
  const stack = startUp(folder, options);
  return { ...stack, ready: (await waitForReadyLine(stack)) as Record<string, string> };
}

async function startByNpm(): Promise<Ready> {
  const folder = createTestFolder();
  return startReal(folder, { byNpmWith: await writeRealConfig(folder) });
}

const ask = (ready: Record<string, string>, onData: SendOptions["onData"] | null = null) =>
  send(String(ready["base_url"]), {
    method: "POST",
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${ready["demo_key"]}` },
    body: { model: "acme/echo-small", messages: MESSAGES, stream: onData !== null },
    ...(onData === null ? {} : { onData }),
  });

describe("inference-gateway up", () => {
  it("starts with the gateway.yaml of its folder, says so, ends a stream under way after SIGTERM, takes no new connection, and keeps key, token and data for a second start", async () => {
    const folder = createTestFolder();
    const configFile = await writeRealConfig(folder);
    const first = await startReal(folder);
    const { ready } = first;
    const { listen } = parse(readFileSync(configFile, "utf8")) as { listen: { port: number } };
    expect(ready["base_url"]).toBe(`http://127.0.0.1:${listen.port}`);
    expect(first.child.stderr).toContain(
      `Starting with ${configFile}; the demo model starts in a directory without`,
    );
    expect(existsSync(join(folder, "data/gateway.yaml"))).toBe(false);
    let isAsked = false;
    const answer = await ask(ready, () => {
      if (!isAsked) first.child.signal("SIGTERM");
      isAsked = true;
    });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("[DONE]")]);
    expect(await first.child.waitForEnd()).toBe(0);
    await expect(ask(ready)).rejects.toThrow("ECONNREFUSED");
    expectNoSecretInLogs(first);
    const { child } = startUp(folder, { forPeople: true });
    // A command that works as it stands.
    const command = await child.waitForLine(
      "the command of the banner",
      (line) => /^Organizations, keys, limits: (.+) \(and --help\)$/.exec(line)?.[1] ?? null,
    );
    const banner = child.stdoutLines.join("\n");
    for (const told of Object.values(ready)) expect(banner).toContain(told);
    const path = `/v1/requests/${String(answer.headers["x-request-id"])}`;
    expect((await send(String(ready["base_url"]), { path, headers: bearer(ready) })).status).toBe(200);
    // In a shell as somebody opens it: nothing but the folder leads to the stack.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("IGW_")));
    const listed = await run("sh", ["-c", command], { cwd: folder, env });
    expect(listed.stdout).toMatch(/^org_\S+ +Demo /m);
  });

  it("fills a company with a month of use with --sample-data once, and starts at once with all data after it was killed", async () => {
    const folder = createTestFolder();
    await writeRealConfig(folder);
    const startFilled = () => startReal(folder, { more: ["--sample-data", "4"] });
    const first = await startFilled();
    expect(first.child.stderr).toContain(`Sample data: organization "${COMPANY_NAME}" with 4 API keys.`);
    const call = async (path: string) => {
      const headers = { authorization: `Bearer ${first.ready["admin_token"]}` };
      const answer = await send(String(first.ready["admin_url"]), { path, headers });
      return (answer.json() as { data: Record<string, unknown>[] }).data;
    };
    const search = encodeURIComponent(COMPANY_NAME);
    const [company] = await call(`/api/organizations?search=${search}`);
    const path = `/api/organizations/${String(company?.["id"])}`;
    expect(await call(`${path}/keys`)).toHaveLength(4);
    expect(await call(`${path}/requests?limit=100`)).toHaveLength(100);
    const [usage] = await call(`${path}/usage`);
    expect(usage?.["requests"]).toBeGreaterThan(0);
    const processes = first.processes();
    first.child.signal("SIGKILL");
    const { child, ready } = await startFilled();
    expect(child.stderr).toContain(`Organization "${COMPANY_NAME}" exists`);
    expect(ready["demo_key"]).toBe(first.ready["demo_key"]);
    expect((await ask(ready)).status).toBe(200);
    expect(await listSurvivors(processes)).toEqual([]);
  });

  it("runs beside another stack, and leaves no process when the npm that started it gets SIGTERM or SIGKILL", async () => {
    const stacks = await Promise.all([startByNpm(), startByNpm()]);
    for (const { ready } of stacks) expect((await ask(ready)).status).toBe(200);
    const [one, other] = stacks;
    expect(one.ready["demo_key"]).not.toBe(other.ready["demo_key"]);
    for (const [stack, signal] of [[one, "SIGTERM"] as const, [other, "SIGKILL"] as const]) {
      const processes = stack.processes();
      expect(processes.length).toBeGreaterThanOrEqual(4);
      stack.child.signal(signal);
      expect([signal, await listSurvivors(processes)]).toEqual([signal, []]);
    }
  });
});

/** Neither the key nor the operator's token. */
function expectNoSecretInLogs({ folder, ready }: { folder: string; ready: Record<string, string> }): void {
  for (const name of ["gateway.log", "envoy.log", "redis.log", "access.log"]) {
    const path = join(folder, "data", "logs", name);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    expect(text).not.toContain(ready["demo_key"]);
    expect(text).not.toContain(ready["admin_token"]);
  }
}

const bearer = (ready: Record<string, string>) => ({ authorization: `Bearer ${ready["demo_key"]}` });
