/**
 * Address and token of the management API, from (in this order) the command line, the environment, a gateway
 * that runs or ran from this directory, or the stored `login`. A token is only sent to the address that was
 * given or found together with it: a variable's token never goes to a file's address.
 */
import type { Command } from "commander";
import { readFileSync } from "node:fs";
import { AdminClient, DEFAULT_ADMIN_PORT } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";
import { connectByConfig, connectByFolder } from "./config-connection.ts";
import { type StoredLogin, loginFile, readStoredLogin } from "./stored-login.ts";

/** Connection given on the command line, or in the environment. */
interface Named {
  readonly url: string | null;
  readonly token: string | null;
}

export interface NamedConnection {
  readonly commandLine: Named;
  readonly environment: Named;
  /** Never from a variable. */
  readonly config: string | null;
}

export interface Connection {
  /** Without a final slash. */
  readonly url: string;
  readonly token: string;
  /** Source of the token, for people: "the login in …". */
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

/** Adds the options for address and token. */
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
 * Reads the given values by source: an option not on the command line has its variable's value.
 * @throws CommandError if a token's file is unreadable.
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

/** @throws CommandError without a token, or if a file is unreadable. */
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
  const login = readStoredLogin();
  if (login !== null) return connectBy(login);
  throw new CommandError(
    "No token. Run `inference-gateway login`, set IGW_ADMIN_TOKEN, or pass --token-file or --config. In the directory of " +
      "a gateway that runs without --config, the command finds the operator's token.",
  );
}

/** Picks address and token without a configuration; the command line first. */
export function pickNamed({ commandLine, environment }: Omit<NamedConnection, "config">): Named {
  return { url: commandLine.url ?? environment.url, token: commandLine.token ?? environment.token };
}

/** Creates the client of a connection. @throws CommandError if the token is malformed. */
export function createClient({ url, token }: Pick<Connection, "url" | "token">): AdminClient {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CommandError("The token is empty or has invalid characters. Copy it again.");
  }
  return new AdminClient(url, token);
}

/** Returns the address without a final slash. @throws CommandError */
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

/** A stored token is only sent to its own address. */
function connectByLogin(url: string): Connection {
  const login = readStoredLogin();
  if (login?.url === url) return connectBy(login);
  throw new CommandError(
    "--admin-url needs a token: set IGW_ADMIN_TOKEN, pass --token-file or --config, or log in there.",
  );
}

function connectBy({ url, token }: StoredLogin): Connection {
  return { url: checkUrl(url), token, source: `the login in ${loginFile()}` };
}
