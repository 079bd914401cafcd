/**
 * Runs one call of the management API: checks the token's rights, the organization's existence, and the
 * request against its schema, then calls the handler. In this order, so that a token learns nothing of other
 * organizations. If Redis is unreachable, steps that need it throw, and the caller gets a 503.
 */
import { AdminError, invalidField } from "../admin-error.ts";
import { parseIfMatch } from "../http/etag.ts";
import { checkInput } from "../http/check-input.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import { FULL_SHARE, shareOf } from "../../../shared/stored/memory.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import type { Principal } from "../principal.ts";
import {
  accessOf,
  type ApiAnswer,
  type ApiCall,
  type ApiRoute,
  type ApiServices,
  type OrganizationRoute,
  type RouteDescription,
} from "./route.ts";

/** Query parameters that are numbers. */
const NUMERIC = new Set(["limit", "top"]);
const MAX_PARAMETERS = 50;
const IDEMPOTENCY_KEY_FORM = /^[\x21-\x7e]{1,200}$/;

export interface IncomingCall
  extends Pick<ApiCall, "principal" | "params" | "requestId">, Partial<Pick<ApiCall, "sessionHash">> {
  readonly request: Request;
}

/** @throws AdminError, or errors of the store. */
export async function runRoute(
  route: ApiRoute | OrganizationRoute,
  incoming: IncomingCall,
  services: ApiServices,
): Promise<ApiAnswer> {
  const { principal, params, requestId, sessionHash = null } = incoming;
  const organizationId = params["organization"];
  if (organizationId !== undefined) requireOwn(principal, organizationId);
  requireAccess(route, principal);
  const organization =
    organizationId === undefined ? null : await services.store.getOrganization(organizationId);
  if (organizationId !== undefined && organization === null) throw new AdminError("organization_not_found");
  if (organization !== null) requireUndeleted(organization, route, principal);
  await requireFreeMemory(route, services);
  const call = { principal, params, requestId, sessionHash, ...(await readInput(route, incoming.request)) };
  if ("handle" in route) return route.handle(call, services);
  if (organization === null) throw new TypeError(`${route.path} names no organization`);
  return route.handleInOrganization({ ...call, organization }, services);
}

/**
 * Rejects creations before Redis is full, to leave memory for requests. Changes and deletions continue, since
 * they can free memory.
 * @throws AdminError 503
 */
async function requireFreeMemory(
  { answers }: Pick<RouteDescription, "answers">,
  { store }: ApiServices,
): Promise<void> {
  if (answers[201] === undefined) return;
  const use = await store.readMemory();
  if (use !== null && shareOf(use) >= FULL_SHARE) throw new AdminError("redis_full");
}

function requireOwn(principal: Principal, organizationId: string): void {
  if (principal.type !== "operator" && principal.organizationId !== organizationId) {
    throw new AdminError("organization_not_found");
  }
}

/** Allows only the operator to read a deleted organization. @throws AdminError 404. */
function requireUndeleted(
  { id, deletedAtMs }: OrganizationRecord,
  route: Pick<RouteDescription, "method" | "access">,
  principal: Principal,
): void {
  if (deletedAtMs === null) return;
  if (principal.type !== "operator") throw new AdminError("organization_not_found");
  if (accessOf(route) === "read") return;
  const message = `The organization ${id} was deleted at ${new Date(deletedAtMs).toISOString()}. It can be read, but not changed.`;
  throw new AdminError("organization_not_found", { message });
}

/** @throws AdminError 403. */
export function requireAccess(
  route: Pick<RouteDescription, "method" | "access" | "member" | "key">,
  principal: Principal,
): void {
  if (principal.type === "operator") return;
  if (principal.type === "key") {
    // Closed by default, and nothing is changed whatever a route says.
    if (route.key === true && route.method === "GET") return;
    const message =
      "You signed in with an API key, which can read only its own data. Ask an admin of the organization.";
    throw new AdminError("permission_denied", { message });
  }
  if (principal.role === "member") {
    // Closed by default: a new route must allow members explicitly.
    if (route.member === true) return;
    const message =
      "Your role is member, which can see and change only its own keys and usage. Ask an admin of the organization.";
    throw new AdminError("permission_denied", { message });
  }
  const access = accessOf(route);
  if (access === "read") return;
  if (access === "operator") {
    const allowed = principal.type === "token" ? "Only the operator's token" : "Only the operator";
    throw new AdminError("permission_denied", { message: `${allowed} can do this.` });
  }
  if (principal.role === "viewer") throw refuseViewer(principal);
}

function refuseViewer({
  type,
  name,
}: Pick<Exclude<Principal, { type: "operator" }>, "type" | "name">): AdminError {
  const message =
    type === "person"
      ? "Your role is viewer, which can't change anything. Ask an admin of the organization."
      : `The token "${name}" has the role viewer, which can't change anything. Use one with the role admin.`;
  return new AdminError("permission_denied", { message });
}

async function readInput(route: RouteDescription, request: Request) {
  const query = checkQuery(route, new URL(request.url).searchParams);
  const body = await checkBody(route, request);
  const ifMatch = route.usesIfMatch ? parseIfMatch(request.headers.get("if-match") ?? undefined) : null;
  const idempotencyKey = route.usesIdempotencyKey ? request.headers.get("idempotency-key") : null;
  if (idempotencyKey !== null && !IDEMPOTENCY_KEY_FORM.test(idempotencyKey)) {
    throw invalidField("Idempotency-Key", "expected 1 to 200 visible ASCII characters");
  }
  return { query, body, ifMatch, idempotencyKey };
}

function checkQuery({ query }: RouteDescription, parameters: URLSearchParams): unknown {
  const names = [...parameters.keys()];
  if (names.length > MAX_PARAMETERS) {
    throw invalidField("query", `expected at most ${MAX_PARAMETERS} parameters`);
  }
  const twice = names.find((name, position) => names.indexOf(name) !== position);
  if (twice !== undefined) throw invalidField(twice, "given more than once");
  const values = Object.fromEntries(
    Array.from(parameters, ([name, value]) => [
      name,
      NUMERIC.has(name) && /^\d{1,9}$/.test(value) ? Number(value) : value,
    ]),
  );
  if (query !== undefined) return checkInput(query, values);
  const [first] = names;
  if (first === undefined) return undefined;
  throw invalidField(first, "this endpoint has no query parameters");
}

async function checkBody({ body, isBodyOptional }: RouteDescription, request: Request): Promise<unknown> {
  if (request.method === "GET") return undefined;
  const value = await readJsonBody(request);
  if (body === undefined) {
    if (value === undefined || Object.keys(value).length === 0) return undefined;
    const message = "This endpoint doesn't accept a request body.";
    throw new AdminError("invalid_parameter", { message, param: "body" });
  }
  if (value === undefined && !isBodyOptional) {
    const message = "The request body is empty. Send a JSON object.";
    throw new AdminError("invalid_json", { message });
  }
  return checkInput(body, value ?? {});
}
