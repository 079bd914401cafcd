/** Client of the management API. Rejected calls and connection failures become sentences for the user. */
import { parseExactJson } from "../../../shared/text/exact-json.ts";
import { cleanText } from "../../../shared/text/plain-text.ts";
import { CommandError, RefusedCall } from "./command-error.ts";

const TIMEOUT_MS = 30_000;
const PAGE_LIMIT = 100;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Filter of a list; `after` is the `next` of the previous page. */
export type ListQuery = Readonly<Record<string, string | undefined>> & {
  readonly after?: string | undefined;
};

/** List response of the API. */
interface ListAnswer {
  readonly data: readonly JsonObject[];
  readonly has_more: boolean;
  /** Cursor for `after`; null: last page. */
  readonly next: string | null;
}

interface CallInput {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export class AdminClient {
  readonly #url: string;
  readonly #token: string;

  /** `url` without a final slash. */
  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Base URL of the management API and the dashboard, without a final slash. */
  get url(): string {
    return this.#url;
  }

  /** Returns the JSON body of a response; an empty object if it has none. @throws CommandError */
  async call(method: string, path: string, input: CallInput = {}): Promise<JsonObject> {
    const text = await this.text(method, path, input);
    return text === "" ? {} : parseObject(text);
  }

  /** Returns a record with the version for a later change. @throws CommandError */
  async read(path: string): Promise<{ readonly body: JsonObject; readonly etag: string }> {
    const { text, etag } = await this.#request("GET", path, {});
    return { body: parseObject(text), etag };
  }

  /** Returns the body of a response as text. @throws CommandError */
  async text(method: string, path: string, input: CallInput = {}): Promise<string> {
    return (await this.#request(method, path, input)).text;
  }

  async #request(method: string, path: string, { query = {}, body, headers }: CallInput) {
    const options = {
      method,
      headers: { authorization: `Bearer ${this.#token}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // A redirect would send the token elsewhere.
      redirect: "error",
    } as const;
    const response = await this.#answered(fetch(this.#address(path, query), options));
    const text = await this.#answered(response.text());
    if (response.ok) return { text, etag: response.headers.get("etag") ?? "*" };
    throw this.#refusal(response.status, text);
  }

  /**
   * Streams a possibly large body. Aborts if no data arrives within the timeout of a call.
   * @throws CommandError
   */
  async *download(path: string, { query = {} }: Pick<CallInput, "query">): AsyncGenerator<Uint8Array> {
    const stalled = new AbortController();
    const watch = setTimeout(() => stalled.abort(), TIMEOUT_MS);
    try {
      const headers = { authorization: `Bearer ${this.#token}` };
      const options = { headers, signal: stalled.signal, redirect: "error" } as const;
      const response = await this.#answered(fetch(this.#address(path, query), options));
      if (!response.ok || response.body === null) {
        throw this.#refusal(response.status, await response.text());
      }
      for await (const chunk of response.body) {
        yield chunk;
        watch.refresh();
      }
    } catch (error) {
      if (error instanceof CommandError) throw error;
      const hint = "Continue with --after and the row_id of the last whole row.";
      throw new CommandError(`The response was interrupted (${describeCause(error)}). ${hint}`, {
        cause: error,
      });
    } finally {
      clearTimeout(watch);
    }
  }

  /** Returns the items of a list, at most `maximum`, from as many pages as needed. @throws CommandError */
  async list(path: string, maximum?: number, filter: ListQuery = {}): Promise<readonly JsonObject[]> {
    return (await this.listPages(path, maximum, filter)).data;
  }

  /** Same with the cursor: one page in the API's form, collected from as many as needed. @throws CommandError */
  async listPages(
    path: string,
    maximum = Number.POSITIVE_INFINITY,
    filter: ListQuery = {},
  ): Promise<ListAnswer> {
    const data: JsonObject[] = [];
    let next: string | null = null;
    do {
      const query = {
        ...filter,
        limit: Math.min(PAGE_LIMIT, maximum - data.length),
        after: next ?? filter.after,
      };
      const page = await this.call("GET", path, { query });
      data.push(...(page["data"] as JsonObject[]));
      next = typeof page["next"] === "string" ? page["next"] : null;
    } while (next !== null && data.length < maximum);
    return { data, has_more: next !== null, next };
  }

  #refusal(status: number, text: string): CommandError {
    const error = readError(text);
    if (error === null) {
      return new CommandError(
        `The server returned ${status} and isn't the management API of this gateway. Check --admin-url.`,
      );
    }
    if (isOfGatewayPort(error["code"], this.#token)) return new CommandError(describeGatewayPort(this.#url));
    const param = error["param"];
    return new RefusedCall(describeRefusal(status, error), typeof param === "string" ? param : null, status);
  }

  #address(path: string, query: NonNullable<CallInput["query"]>): URL {
    const url = new URL(`${this.#url}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  async #answered<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } catch (error) {
      throw new CommandError(
        `The management API at ${this.#url} can't be reached (${describeCause(error)}). Start the gateway, ` +
          "or name its address with --admin-url or IGW_ADMIN_URL, or its configuration with --config.",
        { cause: error },
      );
    }
  }
}

function describeRefusal(status: number, error: JsonObject): string {
  const id = error["request_id"];
  const request = status >= 500 && typeof id === "string" ? ` (request ${id})` : "";
  const help =
    status === 401
      ? " Pass it with `inference-gateway login`, IGW_ADMIN_TOKEN, --token-file or --config; `inference-gateway up` prints it when it starts."
      : "";
  return `${cleanText(String(error["message"]))}${help}${cleanText(request)}`;
}

function readError(text: string): JsonObject | null {
  try {
    const { error } = parseObject(text);
    return typeof error === "object" && error !== null ? (error as JsonObject) : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof CommandError) return null;
    throw thrown;
  }
}

function parseObject(text: string): JsonObject {
  const value = parseExactJson(text);
  if (typeof value === "object" && value !== null) return value as JsonObject;
  throw new CommandError("The server's response isn't one of the management API. Check --admin-url.");
}

/** Returns "ECONNREFUSED": fetch hides the reason in its own error's cause. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}

/** Detection of a wrong port: users may enter the port for API clients instead of the management API's. */

export const DEFAULT_ADMIN_PORT = "10001";

/** Codes that only that port returns for any given API key. */
const KEY_CODES = new Set<unknown>([
  "missing_api_key",
  "invalid_api_key",
  "key_disabled",
  "key_expired",
  "user_disabled",
  "organization_suspended",
]);
const API_KEY = /^sk-igw-/;

/**
 * Returns whether an error comes from that port, since both use the same form. @param token Token that was
 * sent: an API key is valid on that port.
 */
function isOfGatewayPort(code: unknown, token: string): boolean {
  return KEY_CODES.has(code) || (code === "unknown_endpoint" && API_KEY.test(token));
}

/** Explains the port, and where the management API is expected: at its default port on the same host. */
function describeGatewayPort(url: string): string {
  const expected = new URL(url);
  expected.port = DEFAULT_ADMIN_PORT;
  return (
    `${url} is the gateway's API port, where clients send requests with API keys. The management API, which takes the ` +
    "operator's or an organization's token, has its own port, `admin.port` in gateway.yaml: pass --admin-url " +
    `${expected.origin}, unless your operator has set another address.`
  );
}
