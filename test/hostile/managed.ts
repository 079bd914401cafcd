/** The attacker's second organization: the people who attack by the management API have tokens and keys in it. */
import { usageKey } from "../../src/data-path/store/redis/keys.ts";
import { daysOf, parseMonth } from "../../src/shared/time/calendar.ts";
import { USAGE_FIGURES } from "../../src/shared/usage/figures.ts";
import type { Stack } from "../support/stack.ts";
import { addTestKey, createTestKey } from "../support/test-key.ts";
import type { ManagementTarget } from "./attacks/attack.ts";
import { IS_LONG } from "./combinations.ts";
import { connectRedis } from "./leftovers.ts";

const MONTH = "2028-02";
const ROWS_PER_DAY = IS_LONG ? 1_000 : 200;
/** Of them, so many keys; each has a row for each model. */
const KEYS = 20;
const FIGURES = ["requests", "inputTokens", "outputTokens", "costMicrocents"] as const;

export async function createManaged(stack: Stack, silentUrl: string): Promise<ManagementTarget> {
  const store = await stack.store();
  const spender = await createTestKey(store);
  const { organizationId } = spender;
  const neighbor = await addTestKey(store, organizationId);
  const [admin, viewer] = await Promise.all(
    (["admin", "viewer"] as const).map((role) => createToken(stack, organizationId, role)),
  );
  await addUsage(stack, organizationId);
  return {
    url: stack.adminUrl,
    organizationId,
    tokens: { admin: admin ?? "", viewer: viewer ?? "" },
    keys: { spender: spender.key, neighbor: neighbor.key },
    month: MONTH,
    silentUrl,
  };
}

export async function createToken(
  stack: Stack,
  organizationId: string,
  role: "admin" | "viewer",
): Promise<string> {
  const path = `/api/organizations/${organizationId}/tokens`;
  const { token } = await stack.admin("POST", path, { name: role, role });
  return String(token);
}

/** How many entries of the organization's audit log are of an actor of this type. */
export async function countAuditEntries(
  stack: Stack,
  { organizationId }: Pick<ManagementTarget, "organizationId">,
  type: string,
): Promise<number> {
  let count = 0;
  let query = "?limit=100";
  for (;;) {
    const page = (await stack.admin(
      "GET",
      `/api/organizations/${organizationId}/audit${query}`,
    )) as unknown as AuditPage;
    count += page.data.filter(({ actor }) => actor.type === type).length;
    if (page.next === null) return count;
    query = `?limit=100&after=${page.next}`;
  }
}

interface AuditPage {
  readonly data: readonly { readonly actor: { readonly type: string } }[];
  readonly next: string | null;
}

/** Rows as requests leave them. */
async function addUsage(stack: Stack, organizationId: string): Promise<void> {
  const fields: (string | number)[] = [];
  for (let index = 0; index < ROWS_PER_DAY; index += 1) {
    const row = `key_${index % KEYS}:acme/model-${Math.floor(index / KEYS)}`;
    for (const figure of FIGURES) fields.push(`${row}:${USAGE_FIGURES[figure].field}`, 1);
  }
  const redis = connectRedis(stack);
  const month = parseMonth(MONTH);
  if (month === null) throw new Error(`no month: ${MONTH}`);
  for (const day of daysOf(month)) await redis.hset(usageKey(organizationId, day), ...fields);
  redis.disconnect();
}
