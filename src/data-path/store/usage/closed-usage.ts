/** Usage of requests that were closed by another worker than their owner: the request log has no lines of these. */
import { Cluster } from "ioredis";
import { OTHER_TAGS } from "../../../shared/usage/tags.ts";
import type { StoreContext } from "../context.ts";
import { organizationOfRequest, REQUEST_PATTERN } from "../redis/keys.ts";
import type { UsageRow } from "../../../shared/stored/reporting.ts";
import { parseFigures } from "./row-figures.ts";

const PAGE = 1_000;

/** @see UsageStore.readClosedUsage */
export async function readClosedUsage(
  { client }: StoreContext,
  month: string,
): Promise<ReadonlyMap<string, readonly UsageRow[]>> {
  const rows = new Map<string, UsageRow[]>();
  const nodes = client instanceof Cluster ? client.nodes("master") : [client];
  for (const node of nodes) {
    let cursor = "0";
    do {
      const [next, keys] = await node.scan(cursor, "MATCH", REQUEST_PATTERN, "COUNT", PAGE);
      const found = await Promise.all(keys.map(async (key) => [key, await readClosed(client, key)] as const));
      for (const [key, row] of found) {
        if (row === null || !row.day.startsWith(month)) continue;
        const organizationId = organizationOfRequest(key);
        rows.set(organizationId, [...(rows.get(organizationId) ?? []), row]);
      }
      cursor = next;
    } while (cursor !== "0");
  }
  return rows;
}

/** Null: closed by its owner, or in flight. */
async function readClosed(client: StoreContext["client"], key: string): Promise<UsageRow | null> {
  const [reaped, state, final] = await client.hmget(key, "reaped", "state", "final");
  if (reaped !== "1" || state !== "closed" || final === "1") return null;
  const fields = await client.hgetall(key);
  const text = (name: string): string => fields[name] ?? "";
  return {
    day: text("day"),
    keyId: text("key"),
    owners: text("owners"),
    model: text("model"),
    tags: text("tag_row") === OTHER_TAGS ? OTHER_TAGS : text("tags"),
    ...parseFigures(fields),
  };
}
