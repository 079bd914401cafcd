/**
 * Where the management API is and with which token: what the command line says, else the environment, else the
 * gateway that runs, or has run, from this folder, else what `login` has kept. A token that was found on this machine is
 * only ever sent to the address that it was found with.
 */
import type { Command } from "commander";
import { existsSync, readFileSync } from "node:fs";
import { formatLocalUrl } from "../../local-url.ts";
import { findLocalConfig } from "../local-gateway.ts";
import { AdminClient } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";
import { type KeptLogin, loginFile, readKeptLogin } from "./kept-login.ts";

/** Every management command has them. */
export interface ConnectionOptions {
  readonly adminUrl?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly config?: string;
}

export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string;
  /** Where the token is from, for people: "the login in …". */
  readonly source: string;
}

export const DEFAULT_URL = "http://127.0.0.1:10001";
const GIVEN = "the command line or the environment";

export function addConnectionOptions(command: Command): Command {
  addAddressOptions(command);
  return command.addOption(
    command
      .createOption("--config <file>", "gateway.yaml, to read address and operator's token from")
      .helpGroup("Connection:"),
  );
}

/** Those that name an address and a token. */
export function addAddressOptions(command: Command): Command {
  const option = (flags: string, description: string, variable: string) => {
    command.addOption(command.createOption(flags, description).helpGroup("Connection:").env(variable));
  };
  option("--admin-url <url>", `address of the management API; default: ${DEFAULT_URL}`, "IGW_ADMIN_URL");
  option(
    "--token <token>",
    "operator's or organization's token; others on this machine can see it",
    "IGW_ADMIN_TOKEN",
  );
  option("--token-file <file>", "file with the token", "IGW_ADMIN_TOKEN_FILE");
  return command;
}

/** @throws CommandError when there is no token, or a file cannot be read. */
export async function findConnection(options: ConnectionOptions): Promise<Connection> {
  const token = readGivenToken(options);
  const { adminUrl: url, config = null } = options;
  if (url !== undefined && token !== null) return { url: checkUrl(url), token, source: GIVEN };
  if (url !== undefined && config === null) return connectByLogin(checkUrl(url));
  const file = config ?? findLocalConfig();
  if (file !== null) {
    const found = await readConfig(file, token);
    return { url: checkUrl(url ?? found.url), token: found.token, source: token === null ? file : GIVEN };
  }
  if (token !== null) return { url: DEFAULT_URL, token, source: GIVEN };
  const kept = readKeptLogin();
  if (kept !== null) return connectBy(kept);
  throw new CommandError(
    "No token. `inference-gateway login` keeps one; or set IGW_ADMIN_TOKEN, or give --token-file, or --config with the " +
      "gateway's configuration. `inference-gateway up` prints the operator's token; started without --config it is found " +
      "in its folder.",
  );
}

/** The client of a connection. @throws CommandError when the token cannot be one. */
export function createClient({ url, token }: Pick<Connection, "url" | "token">): AdminClient {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CommandError("The token is empty or has characters that no token has.");
  }
  return new AdminClient(url, token);
}

/** The address without a slash at the end. @throws CommandError */
export function checkUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandError(
      `"${url}" is no address of a management API: expected one such as ${DEFAULT_URL}.`,
    );
  }
  return url.replace(/\/+$/, "");
}

/** Null: none was given. @throws CommandError when its file cannot be read. */
export function readGivenToken({ token, tokenFile }: ConnectionOptions): string | null {
  if (token !== undefined || tokenFile === undefined) return token ?? null;
  try {
    return readFileSync(tokenFile, "utf8").trim();
  } catch (error) {
    throw new CommandError(`The token file cannot be read: ${String(error)}`, { cause: error });
  }
}

/** A kept token goes to its own address alone. */
function connectByLogin(url: string): Connection {
  const kept = readKeptLogin();
  if (kept?.url === url) return connectBy(kept);
  throw new CommandError(
    "With --admin-url give a token too: IGW_ADMIN_TOKEN, --token-file or --config; or log in there.",
  );
}

function connectBy({ url, token }: KeptLogin): Connection {
  return { url: checkUrl(url), token, source: `the login in ${loginFile()}` };
}

async function readConfig(file: string, given: string | null): Promise<{ url: string; token: string }> {
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
  if (given === null && operatorToken === null && !existsSync(config.dataDir)) {
    throw new CommandError(
      `${file}: there is no operator's token yet in ${config.dataDir}: start the gateway first.`,
    );
  }
  const url = runningUrl ?? formatLocalUrl(host, port, tls === null ? "http" : "https");
  return { url, token: given ?? resolveOperatorToken(config) };
}
