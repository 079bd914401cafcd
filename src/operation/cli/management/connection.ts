/**
 * Where the management API is and with which token: what the command line says, else the environment, else the
 * gateway that runs, or has run, from this folder, else what `login` has kept. A token goes to the address that was named
 * beside it, or that it was found with: a variable's never to one that a file says.
 */
import type { Command } from "commander";
import { readFileSync } from "node:fs";
import { AdminClient, DEFAULT_ADMIN_PORT } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";
import { connectByConfig, connectByFolder } from "./config-connection.ts";
import { type KeptLogin, loginFile, readKeptLogin } from "./kept-login.ts";

/** What a command line, or the environment, says of the connection. */
interface Named {
  readonly url: string | null;
  readonly token: string | null;
}

export interface NamedConnection {
  readonly commandLine: Named;
  readonly environment: Named;
  /** A variable names none. */
  readonly config: string | null;
}

export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string;
  /** Where the token is from, for people: "the login in …". */
  readonly source: string;
}

export const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_ADMIN_PORT}`;
const GIVEN = "the command line or the environment";

export function addConnectionOptions(command: Command): Command {
  addAddressOptions(command);
  return command.addOption(
    command
      .createOption("--config <file>", "gateway.yaml with the address and the operator's token")
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
    "operator's or organization's token; visible to other users of this machine",
    "IGW_ADMIN_TOKEN",
  );
  option("--token-file <file>", "file with the token", "IGW_ADMIN_TOKEN_FILE");
  return command;
}

/**
 * What was named, by whom: an option has its variable's value where it is not on the command line.
 * @throws CommandError when a token's file cannot be read.
 */
export function readNamedConnection(command: Command): NamedConnection {
  const named = (by: "cli" | "env"): Named => {
    const valueOf = (name: string): string | null =>
      command.getOptionValueSource(name) === by ? String(command.getOptionValue(name)) : null;
    return { url: valueOf("adminUrl"), token: valueOf("token") ?? readTokenFile(valueOf("tokenFile")) };
  };
  const config: unknown = command.getOptionValue("config");
  return {
    commandLine: named("cli"),
    environment: named("env"),
    config: typeof config === "string" ? config : null,
  };
}

/** @throws CommandError when there is no token, or a file cannot be read. */
export async function findConnection(named: NamedConnection): Promise<Connection> {
  const { commandLine, environment, config } = named;
  if (config !== null) {
    const { url, token } = await connectByConfig(config, commandLine);
    return { url: checkUrl(url), token, source: commandLine.token === null ? config : GIVEN };
  }
  const { url, token } = pickNamed({ commandLine, environment });
  if (token !== null) return { url: checkUrl(url ?? DEFAULT_URL), token, source: GIVEN };
  if (url !== null) return connectByLogin(checkUrl(url));
  const found = await connectByFolder();
  if (found !== null) return { url: checkUrl(found.url), token: found.token, source: found.file };
  const kept = readKeptLogin();
  if (kept !== null) return connectBy(kept);
  throw new CommandError(
    "No token. `inference-gateway login` keeps one; or set IGW_ADMIN_TOKEN, or give --token-file, or --config with the " +
      "gateway's configuration. `inference-gateway up` prints the operator's token; started without --config it is found " +
      "in its directory.",
  );
}

/** Address and token without a configuration; the command line first. */
export function pickNamed({ commandLine, environment }: Omit<NamedConnection, "config">): Named {
  return { url: commandLine.url ?? environment.url, token: commandLine.token ?? environment.token };
}

/** The client of a connection. @throws CommandError when the token cannot be one. */
export function createClient({ url, token }: Pick<Connection, "url" | "token">): AdminClient {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CommandError("The token is empty or has invalid characters. Copy it again.");
  }
  return new AdminClient(url, token);
}

/** The address without a slash at the end. @throws CommandError */
export function checkUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandError(`"${url}" isn't an address of a management API. Pass one such as ${DEFAULT_URL}.`);
  }
  return url.replace(/\/+$/, "");
}

function readTokenFile(file: string | null): string | null {
  if (file === null) return null;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CommandError(`The token file can't be read: ${String(error)}`, { cause: error });
  }
}

/** A kept token goes to its own address alone. */
function connectByLogin(url: string): Connection {
  const kept = readKeptLogin();
  if (kept?.url === url) return connectBy(kept);
  throw new CommandError(
    "--admin-url needs a token: set IGW_ADMIN_TOKEN, pass --token-file or --config, or log in there.",
  );
}

function connectBy({ url, token }: KeptLogin): Connection {
  return { url: checkUrl(url), token, source: `the login in ${loginFile()}` };
}
