/** The admin server over real HTTP on a private Redis, and a caller that holds every answer against the OpenAPI schema. */
import { createCatalog } from "../../src/data-path/catalog/catalog.ts";
import { API_ROUTES } from "../../src/management/admin/api/routes.ts";
import type { EmailServices } from "../../src/management/alerts/email-channel.ts";
import { ReportTurns } from "../../src/management/admin/report-turns.ts";
import { errorBody } from "../../src/management/admin/schemas/fields.ts";
import {
  type AdminServer,
  type AdminServerOptions,
  startAdminServer,
} from "../../src/management/admin/server.ts";
import { hashKey } from "../../src/data-path/auth/key-format.ts";
import { parseConfig } from "../../src/shared/config/load.ts";
import type { RedisClient } from "../../src/data-path/store/redis/client.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { connectClient, USAGE_MONTHS } from "../store/fixture.ts";

export const OPERATOR_TOKEN = "igw_op_for-tests";

const CATALOG = `
upstreams: [{name: local, url: "http://127.0.0.1:8000"}]
catalog:
  - {id: acme/echo-small, upstream: local, upstream_model: echo, context_window: 1000, max_output_tokens: 100,
     prices: {USD: {input: "2.50", output: "10.00"}, EUR: {input: "2.30", output: "9.20"}}}
  - {id: acme/echo-large, upstream: local, upstream_model: echo, context_window: 1000, max_output_tokens: 100,
     prices: {USD: {input: "2.50", output: "10.00"}}}
`;

/** Addresses can be set; a test that sends needs a mailer of its own. */
export const NO_EMAILS_SENT: EmailServices = {
  mailer: {
    send: () => Promise.reject(new Error("this test sends no email")),
    verify: async () => undefined,
    close: () => undefined,
  },
  maxPerHour: 20,
  allowedDomains: null,
};

export const testCatalog = createCatalog(parseConfig(CATALOG, { baseDir: "/", env: {} }));

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

export interface CallOptions {
  /** The operator's when left out; none when null. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON, strings and bytes as they stand. */
  readonly body?: object | string | Uint8Array;
}

export interface AdminUnderTest {
  readonly url: string;
  readonly store: Store;
  readonly client: RedisClient;
  readonly redis: PrivateRedis;
  readonly logs: readonly LogLine[];
  call(method: string, path: string, options?: CallOptions): Promise<HttpAnswer>;
  /** The JSON body of a call that is expected to succeed. */
  ok(method: string, path: string, options?: CallOptions): Promise<Record<string, unknown>>;
  /** The `error` of a call that is expected to be refused, with its status. */
  refused(method: string, path: string, options?: CallOptions): Promise<Refusal>;
  stop(): Promise<void>;
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly message: string;
}

export async function startAdmin(options: Partial<AdminServerOptions> = {}): Promise<AdminUnderTest> {
  const redis = await startRedis({ appendOnly: true });
  const client = await connectClient({ url: redis.url });
  const store = createStore({ client, usageMonths: USAGE_MONTHS });
  const logs: LogLine[] = [];
  const keep = (level: LogLine["level"]) => (fields: object, message: string) => {
    logs.push({ level, fields, message });
  };
  const server: AdminServer = await startAdminServer({
    host: "127.0.0.1",
    port: 0,
    tls: null,
    allowPlainHttp: false,
    operatorToken: OPERATOR_TOKEN,
    store,
    reports: new ReportTurns(),
    catalog: () => testCatalog,
    readConfigState: () => ({
      catalogSince: new Date(0).toISOString(),
      refused: null,
      waitingForRestart: [],
    }),
    email: NO_EMAILS_SENT,
    allowPrivateWebhooks: false,
    nowMs: () => Date.now(),
    logger: { info: keep("info"), warn: keep("warn"), error: keep("error") },
    ...options,
  });
  const call = (method: string, path: string, given: CallOptions = {}) =>
    sendCall(server.url, method, path, given);
  return {
    url: server.url,
    store,
    client,
    redis,
    logs,
    call,
    async ok(method, path, given) {
      const answer = await call(method, path, given);
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.text === "" ? {} : answer.json();
    },
    async refused(method, path, given) {
      const answer = await call(method, path, given);
      if (answer.status < 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      const { code, param, message } = errorBody.parse(answer.json()).error;
      return { status: answer.status, code, param, message };
    },
    async stop() {
      await server.close();
      client.disconnect();
      await redis.stop();
    },
  };
}

async function sendCall(
  url: string,
  method: string,
  path: string,
  options: CallOptions,
): Promise<HttpAnswer> {
  const { token = OPERATOR_TOKEN, headers = {}, body } = options;
  const answer = await send(url, {
    method,
    path,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  holdAgainstSchema(method, path, answer);
  return answer;
}

/** Every answer of every test is what the OpenAPI document says. */
function holdAgainstSchema(method: string, path: string, answer: HttpAnswer): void {
  if (!path.startsWith("/api/")) return;
  if (answer.status >= 400) {
    if (method !== "HEAD") errorBody.parse(answer.json());
    return;
  }
  const route = API_ROUTES.find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path.split("?")[0] ?? ""),
  );
  if (route === undefined) return;
  const schema = route.answers[answer.status];
  if (schema === undefined) throw new Error(`${method} ${path}: the document has no answer ${answer.status}`);
  if (schema !== null && answer.headers["content-type"]?.startsWith("application/json")) {
    schema.parse(answer.json());
  }
}

const organizationsMade = new WeakMap<AdminUnderTest, number>();

/** A new organization; its id. The first is "Acme", the second "Acme 2". */
export async function createOrganization(admin: AdminUnderTest, fields: object = {}): Promise<string> {
  const number = (organizationsMade.get(admin) ?? 0) + 1;
  organizationsMade.set(admin, number);
  const body = { name: number === 1 ? "Acme" : `Acme ${number}`, currency: "USD", ...fields };
  const made = await admin.ok("POST", "/api/organizations", { body });
  return String(made["id"]);
}

export interface MadeKey {
  readonly id: string;
  /** The API key itself. */
  readonly key: string;
  /** `/api/organizations/…/keys/…` */
  readonly path: string;
}

export async function createApiKey(
  admin: AdminUnderTest,
  organizationId: string,
  fields: object = {},
): Promise<MadeKey> {
  const keys = `/api/organizations/${organizationId}/keys`;
  const made = await admin.ok("POST", keys, { body: { name: "ci", ...fields } });
  const id = String(made["id"]);
  return { id, key: String(made["key"]), path: `${keys}/${id}` };
}

/** An organization token. */
export async function createToken(
  admin: AdminUnderTest,
  organizationId: string,
  role: "admin" | "viewer",
): Promise<string> {
  const path = `/api/organizations/${organizationId}/tokens`;
  const made = await admin.ok("POST", path, { body: { name: `the ${role}`, role } });
  return String(made["token"]);
}

/** What the data path decides about a request with this key now; null when its look-up finds nothing. */
export async function admit({ store }: Pick<AdminUnderTest, "store">, key: string) {
  const presentedHash = hashKey(key);
  const reference = await store.lookUpKey(presentedHash);
  if (reference === null) return { decision: "unknown_key" as const };
  return store.admit({
    ...reference,
    presentedHash,
    requestId: createId("req", Date.now()),
    route: "POST /v1/chat/completions",
    bucket: "requests",
    metered: true,
    promptTokens: 0,
  });
}

/** All items of a list, `limit` at a time; `has_more` and `next` agree on every page. */
export async function listAll(admin: AdminUnderTest, path: string, limit: number) {
  const items: { id: string; [field: string]: unknown }[] = [];
  for (let after = ""; ;) {
    const page = (await admin.ok("GET", `${path}?limit=${limit}${after}`)) as {
      data: typeof items;
      has_more: boolean;
      next: string | null;
    };
    if (page.has_more !== (page.next !== null)) throw new Error(`${path}: has_more and next disagree`);
    items.push(...page.data);
    if (page.next === null) return items;
    if (page.data.length !== limit) throw new Error(`${path}: a page that is not the last is not full`);
    after = `&after=${encodeURIComponent(page.next)}`;
  }
}
