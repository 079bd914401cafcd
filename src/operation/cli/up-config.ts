/** The configuration that `up` starts with. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { cleanText } from "../../shared/text/plain-text.ts";
import { CommandError } from "./management/command-error.ts";
import { readFolderToken } from "./management/folder-token.ts";

export interface UpConfigOptions {
  readonly config?: string;
  readonly upstream?: string;
  readonly upstreamKeyEnv?: string;
}

const FILE = "gateway.yaml";

/**
 * The file that is named, the one that is made for `--upstream`, else the `gateway.yaml` of this folder; null for the
 * built-in one with its demo model.
 * @throws CommandError where that is not to be done; ConfigError for a file of this folder that is none.
 */
export async function chooseConfig(options: UpConfigOptions): Promise<string | null> {
  const { config, upstream, upstreamKeyEnv = null } = options;
  if (upstream !== undefined) {
    const { writeFirstConfig } = await import("../launcher/first-config/write-first-config.ts");
    const file = config ?? FILE;
    await writeFirstConfig({ upstream, keyVariable: upstreamKeyEnv, file, notice: tell });
    return file;
  }
  if (upstreamKeyEnv !== null) {
    throw new CommandError("`--upstream-key-env` needs `--upstream`. In a gateway.yaml, set `credential`.");
  }
  if (config !== undefined || !existsSync(FILE)) return config ?? null;
  await requireHarmless(resolve(FILE));
  tell(`Starting with ${resolve(FILE)}; the demo model starts in a directory without a ${FILE}.`);
  return FILE;
}

function tell(line: string): void {
  process.stderr.write(`${cleanText(line)}\n`);
}

/** One that merely lies in the folder may be anybody's: it is sent no secret, and opens no other gateway's data. */
async function requireHarmless(file: string): Promise<void> {
  const { loadConfig } = await import("../../shared/config/load.ts");
  const { findSecrets } = await import("../../shared/config/find-secrets.ts");
  const config = loadConfig(file, { secrets: "none" });
  const [secret] = findSecrets(config);
  if (secret !== undefined) throw notTrusted(file, `refers to a secret, ${secret.location}`);
  const token = readFolderToken(join(config.dataDir, "operator-token"), process.cwd());
  if ("problem" in token) throw notTrusted(file, token.problem);
}

function notTrusted(file: string, why: string): CommandError {
  return new CommandError(
    `${file} was found in this directory, but ${why}: nothing was started. If it is yours, run ` +
      `\`up --config ${FILE}\`. The demo model starts in a directory without a ${FILE}.`,
  );
}
