/**
 * Repairs what a crash between writes to two slots can have left: a record without its look-up, a look-up
 * without its record, a deleted organization that is still listed. None of these admits a wrong request; this
 * only tidies. Reads everything, in batches: for an operator or once a day, not on the request path.
 */
import { Cluster } from "ioredis";
import { keyOperations } from "./api-keys.ts";
import { isProviderKeyHash } from "./provider-keys.ts";
import { finishDeletion } from "./deleted-organizations.ts";
import type { StoreContext } from "../context.ts";
import { hashOfLookUp, keyRecordKey, LOOK_UP_PATTERN, lookUpKey, ORGANIZATIONS_KEY } from "../redis/keys.ts";
import { organizationOperations } from "./organizations.ts";
import type { KeyRecord, RepairReport } from "../../../shared/stored/management.ts";
import type { Page } from "../../../shared/stored/page.ts";

const PAGE = 200;

/** @see KeyStore.repair */
export async function repair(context: StoreContext): Promise<RepairReport> {
  let lookUpsWritten = 0;
  await finishDeletions(context);
  for (const organizationId of await organizationOperations.listOrganizationIds(context)) {
    lookUpsWritten += await writeMissingLookUps(context, organizationId);
  }
  return { lookUpsWritten, lookUpsRemoved: await removeDeadLookUps(context) };
}

/** Finishes deletions of organizations that are still listed. */
async function finishDeletions(context: StoreContext): Promise<void> {
  for (const id of await context.client.zrange(ORGANIZATIONS_KEY, "0", "-1")) {
    const record = await organizationOperations.getOrganization(context, id);
    if (record !== null && record.deletedAtMs !== null) await finishDeletion(context, record);
  }
}

async function writeMissingLookUps(context: StoreContext, organizationId: string): Promise<number> {
  let written = 0;
  let after: string | null = null;
  do {
    const page: Page<KeyRecord> = await keyOperations.listKeys(context, organizationId, {
      limit: PAGE,
      after,
    });
    for (const { id } of page.items) {
      const [hash, former] = await context.client.hmget(
        keyRecordKey(organizationId, id),
        "hash",
        "former_hash",
      );
      if (
        hash === null ||
        hash === undefined ||
        isProviderKeyHash(hash) ||
        (await isRotationBrokenOff(context, former))
      ) {
        continue;
      }
      const result = await context.client.set(lookUpKey(hash), `${organizationId} ${id}`, "NX");
      if (result === "OK") written += 1;
    }
    after = page.next;
  } while (after !== null);
  return written;
}

/**
 * Returns whether a rotation broke off. A completed rotation sets an expiry on the previous key's look-up. A
 * look-up without expiry belongs to a key that is still in use while the current one was never given out:
 * writing a look-up for the current one would make the next rotation keep the wrong key.
 */
async function isRotationBrokenOff(
  { client }: StoreContext,
  former: string | null | undefined,
): Promise<boolean> {
  const NO_EXPIRY = -1;
  if (former === null || former === undefined || former === "") return false;
  return (await client.pttl(lookUpKey(former))) === NO_EXPIRY;
}

async function removeDeadLookUps(context: StoreContext): Promise<number> {
  const { client } = context;
  const nodes = client instanceof Cluster ? client.nodes("master") : [client];
  let removed = 0;
  for (const node of nodes) {
    let cursor = "0";
    do {
      const [next, found] = await node.scan(cursor, "MATCH", LOOK_UP_PATTERN, "COUNT", PAGE);
      const dead = await Promise.all(found.map((key) => isDead(context, key)));
      const removals = found.filter((_, position) => dead[position]).map((key) => client.del(key));
      removed += (await Promise.all(removals)).reduce((sum, count) => sum + count, 0);
      cursor = next;
    } while (cursor !== "0");
  }
  return removed;
}

async function isDead({ client }: StoreContext, key: string): Promise<boolean> {
  const [organizationId = "", keyId = ""] = (await client.get(key))?.split(" ") ?? [];
  const [hash, former, deleted] = await client.hmget(
    keyRecordKey(organizationId, keyId),
    "hash",
    "former_hash",
    "deleted_at",
  );
  const presented = hashOfLookUp(key);
  return (hash !== presented && former !== presented) || (deleted !== null && deleted !== "");
}
