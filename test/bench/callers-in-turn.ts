/**
 * What a caller with a token of an identity provider costs beside one with an API key: a gateway that takes keys alone, and one
 * on the same Redis that takes tokens too, in turns. One connection tells latency, 32 tell the rate.
 *
 *   npx tsx test/bench/callers-in-turn.ts [--rounds 20] [--seconds 1] [--connections 32]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SignJWT } from "jose";
import { ORGANIZATION_SETTINGS } from "../../src/shared/settings/organization.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { ensureRedisServer } from "../../src/operation/setup/redis.ts";
import { createToolContext } from "../../src/operation/setup/tool-context.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { startRedis } from "../support/redis.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { AUDIENCE, createSigningKey, type SigningKey } from "../support/token-issuer.ts";
import { runInTurn, type Turn } from "./in-turn.ts";
import { createLoadGenerator } from "./load.ts";
import { startMock } from "./mock.ts";
import { findProcesses } from "./processes.ts";
import { BENCH_MODEL, chatBody } from "./workloads.ts";
import { monthLimits } from "../support/month-limits.ts";

const ISSUER = "https://login.example.com";
const FAR = { limits: monthLimits({ cap: 9_000_000_000, budget: 9_000_000_000 }) };
const BODY = chatBody(1_024, { max_tokens: 1_024 });
const KEY_ALONE = "key, where keys alone are taken";
const KEY = "key, where tokens are taken, too";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seconds: { type: "string", default: "1" },
    connections: { type: "string", default: "32" },
  },
});

const stops: (() => unknown)[] = [];
const generator = createLoadGenerator();
stops.push(() => generator.close());
try {
  const turns = await createTurns();
  const { rounds, seconds, connections } = values;
  const options = { rounds: Number(rounds), seconds: Number(seconds), connections: Number(connections) };
  console.log(await runInTurn(generator, turns, options));
} finally {
  for (const stop of stops.toReversed()) await stop();
}

async function createTurns(): Promise<Turn[]> {
  process.env["REDIS_SERVER_BIN"] = (await ensureRedisServer(createToolContext())).path;
  const redis = await startRedis();
  stops.push(() => redis.stop());
  // That of both; nothing else is started yet.
  const redisProcesses = findProcesses(process.pid).filter(({ kind }) => kind === "redis");
  const mock = await startMock();
  stops.push(() => mock.stop());
  const start = async (overrides: object): Promise<Stack> => {
    const stack = await startStack({
      upstreams: [{ name: "mock", url: `http://127.0.0.1:${mock.port}`, path_prefix: "/v1" }],
      catalog: [catalogEntry({ id: BENCH_MODEL, upstream: "mock", upstream_model: "mock" })],
      workers: 1,
      isLauncherOwnProcess: true,
      overrides: { redis: { url: redis.url }, ...overrides },
    });
    stops.push(() => stack.stop());
    return stack;
  };
  const alone = await start({});
  const { key, organizationId } = await alone.createKey(FAR, {
    ...FAR,
    keyDefaults: { ...defaultsOf(ORGANIZATION_SETTINGS).keyDefaults, requestsPerMinute: 1_000_000 },
  });
  const [rsa, ecdsa] = [await createSigningKey("rsa", "RS256"), await createSigningKey("ecdsa", "ES256")];
  const provider = { name: "corp", issuer: ISSUER, audiences: [AUDIENCE], organization: organizationId };
  const both = await start({
    jwt: { providers: [{ ...provider, jwks: { file: writeKeys([rsa, ecdsa]) } }] },
  });
  const turn = (name: string, base: string, stack: Stack, secret: string): Turn => ({
    name,
    base,
    baseUrl: stack.baseUrl,
    headers: { authorization: `Bearer ${secret}` },
    body: BODY,
    processes: [...findProcesses(stack.child.pid), ...redisProcesses],
  });
  return [
    turn(KEY_ALONE, KEY_ALONE, alone, key),
    turn(KEY, KEY_ALONE, both, key),
    turn("token, RS256", KEY, both, await sign(rsa)),
    turn("token, ES256", KEY, both, await sign(ecdsa)),
  ];
}

function writeKeys(keys: readonly SigningKey[]): string {
  const folder = mkdtempSync(join(tmpdir(), "igw-jwks-"));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "keys.json");
  writeFileSync(file, JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) }));
  return file;
}

function sign({ algorithm, kid, privateKey }: SigningKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "somebody", iat: now, exp: now + 36_000 })
    .setProtectedHeader({ alg: algorithm, kid, typ: "JWT" })
    .sign(privateKey);
}
