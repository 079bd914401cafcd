import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { writePrivateFile } from "../../shared/host/private-file.ts";

const OPERATOR_TOKEN_FILE = "operator-token";
const DEMO_KEY_FILE = "demo-key";
/** 32 random bytes in base64url. */
const TOKEN_BYTES = 32;

/**
 * Returns the operator's token: the configured one, otherwise the one stored in `data_dir`, otherwise a new
 * one that is stored there with mode 0600. Concurrent processes get the same.
 *
 * @throws Error if the configured secret is not set, or `data_dir` cannot be written.
 */
export function resolveOperatorToken(config: Config): string {
  const known = readOperatorToken(config);
  if (known !== null) return known;
  const path = join(config.dataDir, OPERATOR_TOKEN_FILE);
  const draft = `${path}.${process.pid}`;
  writePrivateFile(draft, `igw_op_${randomBytes(TOKEN_BYTES).toString("base64url")}`);
  try {
    // A link never replaces the file of another process.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const token = readSecretFile(path);
  if (token === null) throw new Error(`${path} cannot be read back`);
  return token;
}

/**
 * Reads the token without creating one: null if the gateway has none yet, since a token that no gateway has
 * read is useless.
 *
 * @throws Error if the configured secret is not set.
 */
export function readOperatorToken({ admin, dataDir }: Config): string | null {
  return admin.operatorToken?.reveal() ?? readSecretFile(join(dataDir, OPERATOR_TOKEN_FILE));
}

/** Returns the demo key of an earlier run, or null. */
export function readDemoKey(config: Config): string | null {
  return readSecretFile(join(config.dataDir, DEMO_KEY_FILE));
}

/** Stores the demo key for later starts, mode 0600. */
export function storeDemoKey(config: Config, key: string): void {
  writePrivateFile(join(config.dataDir, DEMO_KEY_FILE), key);
}

/** Returns the trimmed text of the file; null if it is missing or empty. */
function readSecretFile(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8").trim();
    return text === "" ? null : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
