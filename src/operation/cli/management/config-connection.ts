/**
 * Address and token of a gateway from its configuration. A named file (`--config`) is trusted like the
 * command line. A file that just is in the current directory may come from anywhere: a clone, an unpacked
 * archive. It may only lead to loopback addresses, with the token that a gateway has left in that directory,
 * and with no other secret of the user.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../../shared/config/schema.ts";
import { formatLocalUrl, isLoopbackAddress } from "../../../shared/host/local-url.ts";
import { readRunningGateway } from "../../supervisor/running-gateway.ts";
import { CommandError } from "./command-error.ts";
import { readFolderToken } from "./folder-token.ts";

export interface ConfigConnection {
  readonly file: string;
  readonly url: string;
  readonly token: string;
}

/**
 * Connects by the configuration of `--config`, and further options.
 * @throws CommandError without an address or a token; ConfigError for an invalid file.
 */
export async function connectByConfig(
  file: string,
  given: { readonly url: string | null; readonly token: string | null },
): Promise<ConfigConnection> {
  const { readOperatorToken } = await import("../../supervisor/secret-file.ts");
  const config = await loadUnread(file);
  const url = given.url ?? findAddress(file, config);
  const token = given.token ?? readOperatorToken(config);
  if (token !== null) return { file, url, token };
  throw noTokenYet(file, config);
}

/**
 * Connects by files of this directory; null if it has no gateway. @throws CommandError if these are not
 * trustworthy.
 */
export async function connectByFolder(folder: string = process.cwd()): Promise<ConfigConnection | null> {
  const file = findLocalConfig(folder);
  if (file === null) return null;
  const config = await loadUnread(file);
  const url = findAddress(file, config);
  requireLoopback(file, url);
  if (config.admin.operatorToken !== null) {
    const { location } = config.admin.operatorToken;
    throw notTrusted(
      file,
      `takes \`admin.operator_token\` from ${location}, which may be another secret of yours`,
    );
  }
  const token = readFolderToken(join(config.dataDir, "operator-token"), folder);
  if ("problem" in token) throw notTrusted(file, token.problem);
  if (token.text !== null) return { file, url, token: token.text };
  throw noTokenYet(file, config);
}

/**
 * Returns the configuration of this directory for commands that send its secrets (`doctor`); null if there is
 * none.
 * @throws CommandError if it refers to secrets, or sends the directory's token elsewhere.
 */
export async function requireHarmlessFolder(folder: string = process.cwd()): Promise<string | null> {
  const file = findLocalConfig(folder);
  if (file === null) return null;
  const { ConfigError } = await import("../../../shared/config/config-error.ts");
  const { findSecrets } = await import("../../../shared/config/find-secrets.ts");
  let config: Config;
  try {
    config = await loadUnread(file);
  } catch (error) {
    // An invalid file leads nowhere: the caller reports its mistakes.
    if (error instanceof ConfigError) return file;
    throw error;
  }
  // Ignores upstreams: only Envoy reads and sends their secrets.
  const [secret] = findSecrets({ ...config, upstreams: [] });
  if (secret !== undefined) throw notTrusted(file, `refers to a secret, ${secret.location}`);
  const token = readFolderToken(join(config.dataDir, "operator-token"), folder);
  if ("problem" in token) throw notTrusted(file, token.problem);
  if (token.text !== null) requireLoopback(file, formatAdminUrl(config));
  return file;
}

/**
 * Returns the `gateway.yaml` of the gateway that runs from this directory, otherwise the one written by `up`
 * without --config, otherwise `gateway.yaml` itself; null if none exists.
 */
function findLocalConfig(folder: string): string | null {
  const dataDir = join(folder, "data");
  const running = readRunningGateway(dataDir)?.configFile;
  const candidates = [running, join(dataDir, "gateway.yaml"), join(folder, "gateway.yaml")];
  return candidates.find((file) => file !== undefined && existsSync(file)) ?? null;
}

/** Loads without requiring secrets: none is read before its destination is known. */
async function loadUnread(file: string): Promise<Config> {
  const { loadConfig } = await import("../../../shared/config/load.ts");
  return loadConfig(file, { secrets: "none" });
}

function findAddress(file: string, config: Config): string {
  if (config.admin.port !== 0) return formatAdminUrl(config);
  // A free port that is chosen at each start, so only the running gateway knows it.
  const running = readRunningGateway(config.dataDir)?.adminUrl ?? null;
  if (running !== null) return running;
  throw new CommandError(
    `${file} has \`admin.port: 0\`, a free port at each start, and isn't running. Start it, or pass --admin-url.`,
  );
}

function formatAdminUrl({ admin }: Config): string {
  return formatLocalUrl(admin.host, admin.port, admin.tls === null ? "http" : "https");
}

function requireLoopback(file: string, url: string): void {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  if (isLoopbackAddress(host)) return;
  throw notTrusted(file, `leads to ${url}, and not to an address of this machine (127.0.0.1, ::1)`);
}

function notTrusted(file: string, why: string): CommandError {
  return new CommandError(
    `${file} was found in this directory, but ${why}: nothing was sent. If it is yours, pass it with ` +
      "--config; otherwise pass --admin-url, or change the directory.",
  );
}

function noTokenYet(file: string, { dataDir }: Config): CommandError {
  return new CommandError(`${file}: no operator's token in ${dataDir}. Start the gateway first.`);
}
