/**
 * What limits cost a request through the whole stack: keys with them and one without take turns.
 *
 *   npx tsx test/bench/limits-in-turn.ts [--rounds 20] [--seconds 1] [--connections 32]
 */
import { parseArgs } from "node:util";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { startBenchStack } from "./bench-stack.ts";
import { runInTurn, type Turn } from "./in-turn.ts";
import { createLoadGenerator } from "./load.ts";
import { findProcesses } from "./processes.ts";
import { chatBody } from "./workloads.ts";
import { monthLimits } from "../support/month-limits.ts";

const FAR = { limits: monthLimits({ cap: 9_000_000_000, budget: 9_000_000_000 }) };
const FAR_TOKENS = { tokensPerMinute: 1_000_000_000 };
const NONE = "month caps alone";
const STRICT = "strict caps";
const BODY = chatBody(1_024, { max_tokens: 1_024 });

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seconds: { type: "string", default: "1" },
    connections: { type: "string", default: "32" },
  },
});

const bench = await startBenchStack({ workers: 1, noop: false, aiGateway: null, transport: null });
const generator = createLoadGenerator();
try {
  const { rounds, seconds, connections } = values;
  const options = { rounds: Number(rounds), seconds: Number(seconds), connections: Number(connections) };
  console.log(await runInTurn(generator, await createTurns(), options));
} finally {
  generator.close();
  await bench.close();
}

async function createTurns(): Promise<Turn[]> {
  const create = (key: Partial<KeySettings>, organization: Partial<OrganizationSettings>) =>
    bench.stack.createKey(key, organization);
  const strict = { ...FAR, strictCaps: true };
  const keys = {
    [NONE]: { base: NONE, made: await create(FAR, FAR) },
    "tokens per minute on the key": { base: NONE, made: await create({ ...FAR, ...FAR_TOKENS }, FAR) },
    "tokens per minute on key and organization": {
      base: NONE,
      made: await create({ ...FAR, ...FAR_TOKENS }, { ...FAR, ...FAR_TOKENS }),
    },
    "a cap of its session": {
      base: NONE,
      made: await create({ ...FAR, sessionCapCents: 9_000_000_000 }, FAR),
    },
    [STRICT]: { base: STRICT, made: await create(FAR, strict) },
    "strict caps that shrink": { base: STRICT, made: await create({ ...FAR, onCap: "shrink" }, strict) },
  };
  return Object.entries(keys).map(([name, { base, made }]) => ({
    name,
    base,
    baseUrl: bench.stack.baseUrl,
    headers: { authorization: `Bearer ${made.key}`, "x-session-id": "run" },
    body: BODY,
    processes: findProcesses(bench.stack.child.pid),
  }));
}
