/**
 * First `gateway.yaml` for users with an existing model server: `up --upstream URL` lists its models and
 * writes a file to be read, priced and owned. Never overwrites an existing file.
 */
import { existsSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { VARIABLE_NAME_FORM } from "../../../shared/config/secret.ts";
import { LaunchError } from "../launch-error.ts";
import { findFreePort, isFree } from "../ports.ts";
import { readModels, type ServerModels } from "../../../shared/model-servers/read-models.ts";
import { listFirst } from "../../../shared/text/list-words.ts";
import { FetchError } from "../../../shared/model-servers/fetch-answer.ts";
import { formatFirstConfig, UNKNOWN_CONTEXT_WINDOW } from "./format-first-config.ts";
import { type NamedModel, nameModels } from "./name-models.ts";

export interface FirstConfigOptions {
  /** Base URL of an OpenAI API, as typed. */
  readonly upstream: string;
  /** Environment variable with the server's key; null for none. */
  readonly keyVariable: string | null;
  /** Target file. */
  readonly file: string;
  /** Prints a line for the user. */
  readonly notice: (line: string) => void;
}

/** Number of models in messages: a server may list tens of thousands; the file has all of them. */
const MAX_NAMED = 10;
const HOST = "127.0.0.1";
const PORTS = { listen: 10_000, admin: 10_001 };

/**
 * Lists the models and writes the file.
 * @throws LaunchError in one sentence, without writing anything.
 */
export async function writeFirstConfig(options: FirstConfigOptions): Promise<void> {
  const { keyVariable, file, notice } = options;
  refuseExisting(file);
  const place = parsePlace(options.upstream, keyVariable);
  const onLoading = (): void => notice(`${place.baseUrl} is loading its model. Waiting …`);
  const { models, strange, server } = await readServer(place.baseUrl, keyVariable, onLoading);
  const { named, nameless } = nameModels(models, place.name);
  const omitted = [...strange, ...nameless.map((name) => JSON.stringify(name))];
  for (const id of omitted.slice(0, MAX_NAMED)) {
    notice(`Left out: ${id}, which can't become a model name.`);
  }
  if (omitted.length > MAX_NAMED) notice(`Left out: ${omitted.length - MAX_NAMED} more entries of the list.`);
  if (named.length === 0) {
    throw new LaunchError(
      `${place.baseUrl}/models lists no model with a usable name. Name the model on that server.`,
    );
  }
  const [listen, admin] = [await choosePort(PORTS.listen, notice), await choosePort(PORTS.admin, notice)];
  const text = formatFirstConfig({
    ...place,
    keyVariable,
    server,
    models: named,
    host: HOST,
    ports: { listen, admin },
  });
  write(file, text);
  notice(`Wrote ${file}: ${listIds(named)}. All prices are 0: set them in this file.`);
  const unknown = named.filter(({ contextWindow }) => contextWindow === null);
  if (unknown.length > 0) {
    notice(
      `The server doesn't list the context window of ${listIds(unknown)}: the file has ${UNKNOWN_CONTEXT_WINDOW}. Correct it.`,
    );
  }
}

function listIds(models: readonly NamedModel[]): string {
  return listFirst(
    models.map(({ catalogId }) => catalogId),
    MAX_NAMED,
  );
}

async function readServer(
  baseUrl: string,
  variable: string | null,
  onLoading: () => void,
): Promise<ServerModels> {
  const key = readKey(variable);
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const explainRefusal = (url: string, status: number): string =>
    variable === null
      ? `${url} returned ${status}, so it needs a key. Put the key into an environment variable and pass \`--upstream-key-env NAME\`.`
      : `${url} returned ${status}: it rejects the key in the environment variable ${variable}.`;
  try {
    return await readModels(baseUrl, { headers, explainRefusal }, onLoading);
  } catch (error) {
    if (error instanceof FetchError) throw new LaunchError(error.message, { cause: error });
    throw error;
  }
}

function readKey(variable: string | null): string | null {
  if (variable === null) return null;
  const key = process.env[variable] ?? "";
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const problem = key === "" ? "is not set" : "has characters that a key can't have";
  throw new LaunchError(`The environment variable ${variable} of \`--upstream-key-env\` ${problem}.`);
}

function refuseExisting(file: string): void {
  if (!existsSync(file)) return;
  throw new LaunchError(
    `${file} already exists and isn't overwritten. Start with \`--config ${file}\` and without \`--upstream\`, or move the file.`,
  );
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") refuseExisting(file);
    throw new LaunchError(
      `${file} can't be written: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}

interface Place {
  readonly baseUrl: string;
  /** Name of the upstream, and vendor of models without one. */
  readonly name: string;
  readonly origin: string;
  readonly pathPrefix: string;
}

function parsePlace(text: string, keyVariable: string | null): Place {
  if (keyVariable !== null && !VARIABLE_NAME_FORM.test(keyVariable)) {
    throw new LaunchError(
      "`--upstream-key-env` expects the name of an environment variable, not the key itself.",
    );
  }
  const expectation = "`--upstream` expects the base URL of an OpenAI API, such as http://127.0.0.1:8000/v1";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new LaunchError(`${expectation}.`);
  if (url.username !== "" || url.password !== "") {
    throw new LaunchError(
      `${expectation}, without user and password. Pass a key with \`--upstream-key-env\`.`,
    );
  }
  if (url.search !== "" || url.hash !== "") throw new LaunchError(`${expectation}, without \`?\` and \`#\`.`);
  const pathPrefix = url.pathname.replace(/\/+$/, "").replace(/\/(?:models|chat\/completions)$/, "");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isLocal = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  return {
    name: isLocal ? "local" : "hosted",
    origin: url.origin,
    pathPrefix,
    baseUrl: `${url.origin}${pathPrefix}`,
  };
}

async function choosePort(usual: number, notice: (line: string) => void): Promise<number> {
  if (await isFree(HOST, usual)) return usual;
  const port = await findFreePort(HOST);
  notice(`Port ${usual} is in use: the file has ${port} instead.`);
  return port;
}
