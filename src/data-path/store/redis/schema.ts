/** Version of the stored schema, so that no program writes into data that it would misread. */
import type { RedisClient } from "./client.ts";
import { SCHEMA_KEY } from "./keys.ts";

/** Increase with each change that the previous program could not read. Data below 4 precedes 1.0.0. */
export const SCHEMA_VERSION = 11;

/** Thrown if the data in Redis has another schema, or was written by another program. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/**
 * Marks an empty Redis with this program's schema.
 * @throws SchemaError if the data in Redis has another schema; nothing is changed.
 */
export async function checkSchema(client: RedisClient): Promise<void> {
  await client.set(SCHEMA_KEY, String(SCHEMA_VERSION), "NX");
  const stored = await client.get(SCHEMA_KEY);
  if (stored === String(SCHEMA_VERSION)) return;
  const version = Number(stored);
  if (!Number.isInteger(version) || version < 1) {
    throw new SchemaError(
      `The data in Redis is not this gateway's: "${SCHEMA_KEY}" is "${stored}". Set \`redis.url\` to an empty Redis or database.`,
    );
  }
  const writer = version > SCHEMA_VERSION ? "a newer" : "an older";
  throw new SchemaError(
    `The data in Redis was written by ${writer} version of this gateway (schema ${version}; this version needs ` +
      `${SCHEMA_VERSION}). Start the version that wrote the data, or set \`redis.url\` to an empty Redis.`,
  );
}
