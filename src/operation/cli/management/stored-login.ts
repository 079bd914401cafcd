/** Stored login: one address and its token, in a file that only its owner can read. */
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import * as z from "zod";
import { writePrivateFile } from "../../../shared/host/private-file.ts";
import { CommandError } from "./command-error.ts";

const storedLogin = z.strictObject({ admin_url: z.string().min(1), token: z.string().min(1) });

export interface StoredLogin {
  readonly url: string;
  readonly token: string;
}

const ANYBODY_ELSE = 0o077;

/**
 * Returns the file's path. @see https://specifications.freedesktop.org/basedir-spec: a relative
 * XDG_CONFIG_HOME is invalid.
 */
export function loginFile(env: NodeJS.ProcessEnv = process.env): string {
  const given = env["XDG_CONFIG_HOME"] ?? "";
  const folder = isAbsolute(given) ? given : join(homedir(), ".config");
  return join(folder, "inference-gateway", "login.json");
}

/** Returns null without a login. @throws CommandError if others can read the file, or it was not written by `login`. */
export function readStoredLogin(): StoredLogin | null {
  const file = loginFile();
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) return null;
  if (process.platform !== "win32" && (mode & ANYBODY_ELSE) !== 0) {
    throw new CommandError(
      `Other users of this machine can read ${file}, so its token isn't used. ` +
        "Replace the token, and log in again with `inference-gateway login`.",
    );
  }
  try {
    const { admin_url: url, token } = storedLogin.parse(JSON.parse(readFileSync(file, "utf8")));
    return { url, token };
  } catch (error) {
    const hint = "`inference-gateway login` writes it again, `logout` removes it.";
    // Omits the cause's text, which may quote the file.
    throw new CommandError(`${file} isn't a file that login has written. ${hint}`, { cause: error });
  }
}

/** Replaces the stored login. */
export function storeLogin({ url, token }: StoredLogin): void {
  const file = loginFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writePrivateFile(file, JSON.stringify({ admin_url: url, token } satisfies z.input<typeof storedLogin>));
}

/** Returns whether there was one. */
export function deleteLogin(): boolean {
  const file = loginFile();
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return false;
  rmSync(file);
  return true;
}
