/**
 * Transfer of a configuration to another process of this host. Secrets travel as references: the other
 * process reads them from the same place.
 */
import type { Config } from "./schema.ts";
import { Secret, type SecretReference } from "./secret.ts";

/** Marks a secret; fields of a configuration never start with a dollar sign. */
const SECRET_TAG = "$secret";

/** Converts to plain JSON values for `receiveConfig`. */
export function transferConfig(config: Config): unknown {
  return mapTree(config, (value) =>
    value instanceof Secret ? { [SECRET_TAG]: value.reference } : undefined,
  );
}

/** Restores a configuration from another process of this version, deeply frozen. */
export function receiveConfig(transferred: unknown): Config {
  return receive(transferred) as Config;
}

/** Restores only a catalog. */
export function receiveCatalog(transferred: unknown): Config["catalog"] {
  return receive(transferred) as Config["catalog"];
}

function receive(transferred: unknown): unknown {
  const source = { baseDir: "/", env: process.env };
  return mapTree(transferred, (value) => {
    const reference = (value as Readonly<Record<string, SecretReference>>)[SECRET_TAG];
    return reference === undefined ? undefined : new Secret(reference, source);
  });
}

/** Returns a frozen copy of the tree, in which `replace` may substitute branches. */
function mapTree(value: unknown, replace: (branch: object) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return Object.freeze(value.map((member) => mapTree(member, replace)));
  const entries = Object.entries(value).map(([key, member]) => [key, mapTree(member, replace)]);
  return Object.freeze(Object.fromEntries(entries) as object);
}
