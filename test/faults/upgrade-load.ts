/** What goes on over an upgrade: clients of two keys without a pause, streams that are held open, and single requests of the third key. */
import { readError, send } from "../support/http.ts";
import { waitFor } from "../support/wait.ts";
import { usedBy } from "./fault-accounts.ts";
import type { Order } from "./counting-upstream.ts";
import { ROUTES, type Sent, type SendOptions, sendOne, startClients } from "./fault-load.ts";
import { MODEL } from "./fault-stack.ts";
import type { KeyName, UpgradeStack } from "./upgrade-stack.ts";

const CLIENTS = 3;
const OUTPUT_TOKENS = 40;
const TOKEN_MS = 5;
const TAGS = [undefined, "team=search", "team=ads, feature=chat"] as const;
/** All have some, so that each worker of a generation is likely to hold one. */
const HELD_BY: readonly KeyName[] = ["zoe", "ci", "ann", "zoe", "ci", "ann"];

export interface UpgradeLoad {
  /** Everything, by key. */
  readonly sent: Readonly<Record<KeyName, Sent[]>>;
  /** Resolves when each of both keys has so many more answers. */
  answered(count: number): Promise<void>;
  /** Resolves when some streams more stand at half of their tokens. */
  holdStreams(): Promise<void>;
  /** Lets those end; how many came whole. */
  releaseStreams(): Promise<number>;
  /** Ann's requests, one after the other, all of the same cost: their statuses. */
  sendAnn(count: number): Promise<readonly number[]>;
  /** Whom else's. */
  sendCi(count: number): Promise<readonly number[]>;
  /** What the upstream's answers to these keys cost. */
  used(keys: readonly KeyName[]): bigint;
  stopClients(): Promise<void>;
}

export function startUpgradeLoad(up: UpgradeStack): UpgradeLoad {
  const { envoy, upstream, tenant } = up;
  const sent: Record<KeyName, Sent[]> = { zoe: [], ann: [], ci: [] };
  const options = (name: KeyName, fields: Partial<SendOptions> = {}): SendOptions => {
    const index = sent[name].length;
    const tags = TAGS[index % TAGS.length];
    return {
      baseUrl: envoy.baseUrl,
      key: tenant.keys[name].key,
      model: MODEL,
      route: ROUTES[index % ROUTES.length] ?? ROUTES[0],
      outputTokens: OUTPUT_TOKENS,
      tokenMs: TOKEN_MS,
      isStream: index % 2 === 0,
      ...(tags !== undefined && { tags }),
      ...fields,
    };
  };
  const keep = (name: KeyName) => (each: Sent) => void sent[name].push(each);
  const clients = (["zoe", "ci"] as const).map((name) =>
    startClients(CLIENTS, () => options(name), keep(name)),
  );
  const countEnded = () =>
    Math.min(...(["zoe", "ci"] as const).map((name) => sent[name].filter(({ status }) => status > 0).length));
  const sendInTurn = async (name: KeyName, count: number): Promise<readonly number[]> => {
    const statuses: number[] = [];
    const fixed = { route: ROUTES[0], isStream: false, tokenMs: 0 };
    for (let index = 0; index < count; index += 1) {
      statuses.push((await sendOne(options(name, fixed), keep(name))).status);
    }
    return statuses;
  };
  let held: Promise<Sent>[] = [];
  return {
    sent,
    async answered(count) {
      const until = countEnded() + count;
      await waitFor(`${count} more answers of each key`, () => countEnded() >= until);
    },
    async holdStreams() {
      const ids: string[] = [];
      const streams = HELD_BY.map((name) =>
        sendOne(options(name, { isStream: true, behavior: "paused" }), (each) => {
          ids.push(each.id);
          keep(name)(each);
        }),
      );
      held = [...held, ...streams];
      const isHalfWay = (id: string) =>
        upstream.accounts.get(id)?.tokenTimesMs.length === Math.floor(OUTPUT_TOKENS / 2);
      await waitFor("the first half of each stream", () => ids.every(isHalfWay));
    },
    async releaseStreams() {
      upstream.release();
      const ended = await Promise.all(held);
      held = [];
      return ended.filter(({ isWhole }) => isWhole).length;
    },
    sendAnn: (count) => sendInTurn("ann", count),
    sendCi: (count) => sendInTurn("ci", count),
    used: (keys) =>
      keys.flatMap((name) => sent[name]).reduce((sum, { id }) => sum + usedBy(upstream.accounts.get(id)), 0n),
    async stopClients() {
      await Promise.all(clients.map((each) => each.stop()));
    },
  };
}

/** Costs nothing where it is let through. */
const FREE_ORDER: Order = { id: "free", promptTokens: 0, outputTokens: 0, tokenMs: 0 };

/** What a client of the key is told that its limits refuse. */
export async function readRefusal({ envoy, tenant }: UpgradeStack, name: KeyName) {
  const answer = await send(envoy.baseUrl, {
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${tenant.keys[name].key}` },
    body: { model: MODEL, messages: [{ role: "user", content: JSON.stringify(FREE_ORDER) }] },
  });
  if (answer.status !== 402) return { status: answer.status };
  const { scope, period, spent_cents: spentCents } = readError(answer);
  return { status: answer.status, scope, period, spentCents };
}
