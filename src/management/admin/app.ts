/**
 * HTTP of the admin server, without its sockets: health, the management API, errors. Everything under `/api/`
 * needs a token, except the descriptions of the APIs. The dashboard's pages in `dashboard/` are further
 * routes that use the API's calls.
 */
import { type Context, Hono } from "hono";
import { createId } from "../../data-path/store/ids.ts";
import { AdminError } from "./admin-error.ts";
import { createCustomersDocument } from "./openapi/customers.ts";
import { createOpenApiDocument } from "./openapi/management.ts";
import type { ApiAnswer, ApiRoute, ApiServices, OrganizationRoute } from "./api/route.ts";
import { API_ROUTES } from "./api/routes.ts";
import { runRoute } from "./api/run-route.ts";
import { convertError } from "./convert-error.ts";
import { addDashboard } from "./dashboard/dashboard.tsx";
import {
  type AdminApp,
  type AdminAppOptions,
  type AdminEnvironment,
  formatGatewayUrl,
  type MetricsPage,
} from "./app-options.ts";
import { MinuteLimit, withFailureLimit } from "./minute-limit.ts";
import { isReady } from "./health-server.ts";
import { type Journal, recordEnd } from "./identity/record-sign-in.ts";
import { Sessions } from "./dashboard/session.ts";
import { hashProgramToken, isProgramToken } from "../../shared/contract/program-sign-in.ts";
import { authenticate, type Principal, readBearer, isSameText } from "./principal.ts";
import { formatExactJson } from "../../shared/text/exact-json.ts";
import { listWords } from "../../shared/text/list-words.ts";

/** The operator's token also authorizes the page. */
interface MetricsRouteOptions extends Pick<AdminAppOptions, "operatorToken" | "nowMs"> {
  readonly page: MetricsPage;
  readonly limit: MinuteLimit;
}

/** Guards against DNS rebinding: another site's name that resolves to this host would appear in `Host`. */
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
/** Requests with these came through a proxy, so not from this host. */
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "via"];

function addMetrics(app: AdminApp, { page, operatorToken, limit, nowMs }: MetricsRouteOptions): void {
  app.get("/metrics", async (context) => {
    const isForwarded = PROXY_HEADERS.some((name) => context.req.header(name) !== undefined);
    const isFromHost = page.isLocal && !isForwarded && LOCAL_HOST.test(context.req.header("host") ?? "");
    if (page.token !== null || !isFromHost) {
      const authorization = context.req.header("authorization");
      const accepted = [page.token, operatorToken];
      await withFailureLimit(context, limit, nowMs(), () => requireToken(authorization, accepted));
    }
    const { contentType, text } = await page.render();
    return context.body(text, 200, { "content-type": contentType, "cache-control": "no-store" });
  });
}

function requireToken(authorization: string | undefined, accepted: readonly (string | null)[]): void {
  const given = readBearer(authorization);
  if (given !== undefined && accepted.some((token) => token !== null && isSameText(given, token))) return;
  throw new AdminError("invalid_token");
}

/** Limit per address and minute: a program with an old token may retry for a while; guessing a token needs far more. */
const MAX_WRONG_TOKENS = 100;

/** Paths that need no token: descriptions of the management API and of the client API. */
const DESCRIPTION = "/api/openapi.json";
const CUSTOMERS_DESCRIPTION = "/api/openapi-customers.json";

export function createAdminApp(options: AdminAppOptions): AdminApp {
  const app: AdminApp = new Hono();
  app.use(async (context, next) => {
    const requestId = createId("req", options.nowMs());
    context.set("requestId", requestId);
    await next();
    context.res.headers.set("x-request-id", requestId);
    // The body is not read: without this, its stream would stay open.
    if (context.req.method === "HEAD") await context.res.body?.cancel();
  });
  addHealth(app, options);
  const limit = new MinuteLimit(MAX_WRONG_TOKENS);
  const { metrics } = options;
  if (metrics !== undefined) addMetrics(app, { ...options, page: metrics, limit });
  const sessions = new Sessions(options.operatorToken, options.store, options.providers);
  addApi(app, options, { limit, sessions });
  addDashboard(app, options, sessions);
  app.notFound((context) => answerError(context, unknownEndpoint(context.req)));
  app.onError((thrown, context) => {
    const isWrite = context.req.method !== "GET" && context.req.method !== "HEAD";
    const error = convertError(thrown, isWrite);
    log(error, context, options.logger);
    return answerError(context, error);
  });
  return app;
}

function addHealth(app: AdminApp, options: AdminAppOptions): void {
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    const ready = await isReady(options);
    return context.json({ status: ready ? "ready" : "not_ready" }, ready ? 200 : 503);
  });
}

interface Entrance {
  readonly limit: MinuteLimit;
  readonly sessions: Sessions;
}

function addApi(app: AdminApp, options: AdminAppOptions, entrance: Entrance): void {
  // Created on first use: it takes a tenth of the process's start.
  let document: ReturnType<typeof createOpenApiDocument> | null = null;
  const serverUrl = options.dashboardUrl ?? "/";
  app.get(DESCRIPTION, (context) => context.json((document ??= createOpenApiDocument(serverUrl))));
  let customers: ReturnType<typeof createCustomersDocument> | null = null;
  app.get(CUSTOMERS_DESCRIPTION, (context) => {
    customers ??= createCustomersDocument();
    return context.json({ ...customers, servers: [{ url: formatGatewayUrl(options, context.req.url) }] });
  });
  app.use("/api/*", async (context, next) => {
    context.set("principal", await identify(context, options, entrance));
    return next();
  });
  for (const route of API_ROUTES) {
    app.on(route.method, route.path.replace(/\{(\w+)\}/g, ":$1"), (context) =>
      answer(context, route, options),
    );
  }
  app.all("/api/*", (context) => {
    const methods = methodsOf(context.req.path);
    if (methods.length === 0) throw unknownEndpoint(context.req);
    const allow = methods.join(", ");
    const message = `${context.req.path} accepts ${listWords(methods)}, not ${context.req.method}.`;
    throw new AdminError("method_not_allowed", { message, headers: { allow } });
  });
}

/** Authenticates the caller. @throws AdminError 401, 429; errors of the store if Redis is unreachable. */
async function identify(
  context: Context<AdminEnvironment>,
  options: AdminAppOptions,
  { limit, sessions }: Entrance,
): Promise<Principal> {
  const authorization = context.req.header("authorization");
  const token = readBearer(authorization) ?? "";
  return withFailureLimit(context, limit, options.nowMs(), () =>
    isProgramToken(token)
      ? findProgram(token, sessions, { ...options, requestId: context.get("requestId") })
      : authenticate(authorization, options.operatorToken, options.store),
  );
}

/** @throws AdminError 401 if the sign-in has ended. */
async function findProgram(token: string, sessions: Sessions, journal: Journal): Promise<Principal> {
  const found = await sessions.findProgram(token, (holder, reason) => recordEnd(journal, holder, reason));
  if (found !== null) return found;
  const message = "This sign-in has ended. Sign in again: `inference-gateway login --oidc`.";
  throw new AdminError("invalid_token", { message });
}

async function answer(
  context: Context<AdminEnvironment>,
  route: ApiRoute | OrganizationRoute,
  services: ApiServices,
): Promise<Response> {
  const call = {
    request: context.req.raw,
    principal: context.get("principal"),
    params: context.req.param(),
    requestId: context.get("requestId"),
    sessionHash: hashProgramToken(readBearer(context.req.header("authorization")) ?? ""),
  };
  return formatAnswer(await runRoute(route, call, services));
}

function formatAnswer({ status, body, headers }: ApiAnswer): Response {
  const options = headers === undefined ? { status } : { status, headers };
  if (body === undefined) return new Response(null, options);
  const isJson = typeof body === "object" && !(body instanceof ReadableStream);
  if (!isJson) return new Response(body, options);
  return new Response(formatExactJson(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

function answerError(context: Context<AdminEnvironment>, error: AdminError): Response {
  const { status, headers } = error;
  return Response.json(error.toBody(context.get("requestId")), { status, headers });
}

function unknownEndpoint({ method, path }: { method: string; path: string }): AdminError {
  const message = `Unknown endpoint ${method} ${path.slice(0, 200)}. \`GET /api/openapi.json\` describes the endpoints.`;
  return new AdminError("unknown_endpoint", { message });
}

/** Lists methods in the order of the table; HEAD wherever GET is. */
function methodsOf(path: string): string[] {
  const isMatch = (template: string): boolean =>
    new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path);
  const methods = API_ROUTES.filter((route) => isMatch(route.path)).map((route) => route.method);
  const isDescription = path === DESCRIPTION || path === CUSTOMERS_DESCRIPTION;
  const all = isDescription ? ["GET"] : [...new Set<string>(methods)];
  return all.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

/** Logs errors of this server; errors of the caller are not logged. */
function log(error: AdminError, context: Context<AdminEnvironment>, logger: ApiServices["logger"]): void {
  if (error.status < 500) return;
  const fields = {
    err: error.cause ?? error,
    request_id: context.get("requestId"),
    method: context.req.method,
    path: context.req.path,
  };
  if (error.code === "gateway_unavailable") logger.warn(fields, "management call failed: redis unreachable");
  else logger.error(fields, "management call failed");
}
