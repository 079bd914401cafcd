/**
 * A configuration on its way to another process of this host. Secrets travel as references: the other process reads
 * them where they are kept, as this one does.
 */
import type { Config } from "./schema.ts";
import { Secret, type SecretReference } from "./secret.ts";

/** No field of a configuration begins with a dollar sign. */
const SECRET_TAG = "$secret";

/** Plain JSON values that `receiveConfig` makes the same configuration of. */
export function transferConfig(config: Config): unknown {
  return mapTree(config, (value) =>
    value instanceof Secret ? { [SECRET_TAG]: value.reference } : undefined,
  );
}

/** The configuration that another process of this version has transferred, frozen at every depth. */
export function receiveConfig(transferred: unknown): Config {
  return receive(transferred) as Config;
}

/** The same of a catalog alone. */
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

/** A copy of the tree, frozen; a branch that `replace` has a value for is that value. */
function mapTree(value: unknown, replace: (branch: object) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return Object.freeze(value.map((member) => mapTree(member, replace)));
  const entries = Object.entries(value).map(([key, member]) => [key, mapTree(member, replace)]);
  return Object.freeze(Object.fromEntries(entries) as object);
}
