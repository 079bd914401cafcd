/**
 * Where the management API is and with which token: what the command line says, else the environment, else the
 * gateway's configuration, else the gateway that runs, or has run, from this folder. A token that was found on
 * this machine is only ever sent to the address that it was found with.
 */
import type { Command } from "commander";
import { existsSync, readFileSync } from "node:fs";
import { formatLocalUrl } from "../../local-url.ts";
import { findLocalConfig } from "../local-gateway.ts";
import { AdminClient } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";

/** Every management command has them. */
export interface ConnectionOptions {
  readonly adminUrl?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly config?: string;
}

const DEFAULT_URL = "http://127.0.0.1:10001";

export function addConnectionOptions(command: Command): Command {
  const option = (flags: string, description: string, variable?: string) => {
    const made = command.createOption(flags, description).helpGroup("Connection:");
    command.addOption(variable === undefined ? made : made.env(variable));
  };
  option("--admin-url <url>", `address of the management API; default: ${DEFAULT_URL}`, "IGW_ADMIN_URL");
  option(
    "--token <token>",
    "operator's or organization's token; others on this machine can see it",
    "IGW_ADMIN_TOKEN",
  );
  option("--token-file <file>", "file with the token", "IGW_ADMIN_TOKEN_FILE");
  option("--config <file>", "gateway.yaml, to read address and operator's token from");
  return command;
}

/** @throws CommandError when there is no token, or a file cannot be read. */
export async function connect(options: ConnectionOptions): Promise<AdminClient> {
  const given = options.token ?? (options.tokenFile === undefined ? undefined : readToken(options.tokenFile));
  if (options.adminUrl !== undefined && given !== undefined) return createClient(options.adminUrl, given);
  if (options.adminUrl !== undefined && options.config === undefined) {
    throw new CommandError("With --admin-url give a token too: IGW_ADMIN_TOKEN, --token-file or --config.");
  }
  const file = options.config ?? findLocalConfig();
  if (file === null) {
    if (given !== undefined) return createClient(DEFAULT_URL, given);
    throw new CommandError(
      "No token. Set IGW_ADMIN_TOKEN, or give --token-file, or --config with the gateway's configuration. " +
        "`inference-gateway up` prints the operator's token; started without --config it is found in its folder.",
    );
  }
  const found = await readConfig(file, given);
  return createClient(options.adminUrl ?? found.url, found.token);
}

function createClient(url: string, token: string): AdminClient {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandError(
      `"${url}" is no address of a management API: expected one such as ${DEFAULT_URL}.`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CommandError("The token is empty or has characters that no token has.");
  }
  return new AdminClient(url.replace(/\/+$/, ""), token);
}

function readToken(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CommandError(`The token file cannot be read: ${String(error)}`, { cause: error });
  }
}

async function readConfig(file: string, given: string | undefined): Promise<{ url: string; token: string }> {
  const { loadConfig } = await import("../../config/load.ts");
  const { resolveOperatorToken } = await import("../../supervisor/secret-file.ts");
  const { readRunningGateway } = await import("../../supervisor/running-gateway.ts");
  const config = loadConfig(file, { secrets: "none" });
  const { host, port, tls, operatorToken } = config.admin;
  // A free port of each start, which only the running gateway knows.
  const runningUrl = port === 0 ? (readRunningGateway(config.dataDir)?.adminUrl ?? null) : null;
  if (port === 0 && runningUrl === null) {
    throw new CommandError(
      `${file} has \`admin.port: 0\`, a free port of each start, and does not run: start it, or give --admin-url.`,
    );
  }
  // Never made here: a token that no gateway has read opens nothing.
  if (given === undefined && operatorToken === null && !existsSync(config.dataDir)) {
    throw new CommandError(
      `${file}: there is no operator's token yet in ${config.dataDir}: start the gateway first.`,
    );
  }
  const url = runningUrl ?? formatLocalUrl(host, port, tls === null ? "http" : "https");
  return { url, token: given ?? resolveOperatorToken(config) };
}
