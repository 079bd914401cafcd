/** The version of what is stored, so that an older program never writes into a newer one's data. */
import type { RedisClient } from "./client.ts";
import { SCHEMA_KEY } from "./keys.ts";

/**
 * Goes up with each change that an older program could not live with. 2: usage rows by tags, which version 1 would take
 * for models; cache writes, audio and the price in force in records and rows.
 */
export const SCHEMA_VERSION = 2;
/** 3, from when the first limit of a day, a week, a total, a user or a group is set: older programs would not count for it. */
export const WINDOWS_SCHEMA_VERSION = 3;

/** Whoever wrote the data, it was not a version that this program may write after. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/**
 * Marks an empty Redis with this program's version, and raises that of an older one. Nothing is rewritten: what version 1
 * has not is 0 or nothing, so that programs of both versions can run while one replaces the other; only one of version 1
 * that is started anew refuses to.
 * @throws SchemaError when the data was written by a newer version, or by something else.
 */
export async function checkSchema(client: RedisClient): Promise<void> {
  await client.set(SCHEMA_KEY, String(SCHEMA_VERSION), "NX");
  const stored = await client.get(SCHEMA_KEY);
  const version = Number(stored);
  if (!Number.isInteger(version) || version < 1) {
    throw new SchemaError(`The data in Redis is not this gateway's: "${SCHEMA_KEY}" is "${stored}".`);
  }
  if (version < SCHEMA_VERSION) await client.igwRaiseSchema(SCHEMA_KEY, String(SCHEMA_VERSION));
  if (version > WINDOWS_SCHEMA_VERSION) {
    throw new SchemaError(
      `The data in Redis was written by a newer version of this gateway (schema ${version}; this one knows ` +
        `${WINDOWS_SCHEMA_VERSION}). Start that version, or give this one another Redis.`,
    );
  }
}
