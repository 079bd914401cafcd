/** The version of what is stored, so that an older program never writes into a newer one's data. */
import type { RedisClient } from "./client.ts";
import { SCHEMA_KEY } from "./keys.ts";

/** Goes up with each change that an older program could not live with. */
export const SCHEMA_VERSION = 1;

/** Whoever wrote the data, it was not a version that this program may write after. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/**
 * Marks an empty Redis with this program's version.
 * @throws SchemaError when the data was written by a newer version, or by something else.
 */
export async function checkSchema(client: RedisClient): Promise<void> {
  await client.set(SCHEMA_KEY, String(SCHEMA_VERSION), "NX");
  const stored = await client.get(SCHEMA_KEY);
  const version = Number(stored);
  if (!Number.isInteger(version) || version < 1) {
    throw new SchemaError(`The data in Redis is not this gateway's: "${SCHEMA_KEY}" is "${stored}".`);
  }
  if (version > SCHEMA_VERSION) {
    throw new SchemaError(
      `The data in Redis was written by a newer version of this gateway (schema ${version}; this one knows ` +
        `${SCHEMA_VERSION}). Start that version, or give this one another Redis.`,
    );
  }
}
