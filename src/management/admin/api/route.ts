/**
 * Endpoint of the management API as data: for routing, checking of requests and the OpenAPI document. A
 * handler gets checked values and an authorized caller.
 */
import type { z } from "zod";
import type { Catalog } from "../../../data-path/catalog/catalog.ts";
import type { ConfigState } from "../../../shared/config/reload/config-state.ts";
import type { EmailServices } from "../../alerts/email-channel.ts";
import type { Logger } from "../../../shared/host/logger.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import type { Store } from "../../../shared/stored/store.ts";
import type { LogLevel } from "../../../shared/telemetry/log-level.ts";
import type { IfMatch } from "../http/etag.ts";
import type { Principal } from "../principal.ts";
import type { ReportTurns } from "../report-turns.ts";

export interface ApiServices {
  readonly store: Store;
  readonly reports: ReportTurns;
  readonly catalog: () => Catalog;
  /** Returns the difference between the running configuration and its file. */
  readonly readConfigState: () => ConfigState | Promise<ConfigState>;
  /** `dashboard.base_url`, without a final slash; null or omitted: not set. */
  readonly dashboardUrl?: string | null;
  readonly email: EmailServices;
  /** True if webhooks may target private networks and use plain `http`. */
  readonly allowPrivateWebhooks: boolean;
  /** Sets the level of every process of this host; omitted: not available. */
  readonly setLogLevel?: (level: LogLevel) => void | Promise<void>;
  readonly logger: Logger;
}

/** `read`: every token. `write`: all but viewers' tokens. `operator`: only the operator's. */
export type Access = "read" | "write" | "operator";

export interface RouteDescription {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * Path with `{organization}`, `{key}` …; below `/api/organizations/{organization}` a token must belong to
   * that organization.
   */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Default: "read" for GET and "write" for all others. */
  readonly access?: Access;
  /** True if members may call it, because it only concerns themselves. Omitted: not for members. */
  readonly member?: true;
  /** True if the holder of an API key may as well, for that key only; only if the method is GET. */
  readonly key?: true;
  /** Omitted: no parameters. */
  readonly query?: z.ZodType;
  /** Omitted: no body. */
  readonly body?: z.ZodType;
  /** True if an empty body means an empty object. */
  readonly isBodyOptional?: true;
  readonly usesIfMatch?: true;
  readonly usesIdempotencyKey?: true;
  /** Schemas of the body by status, null for none. */
  readonly answers: Readonly<Record<number, z.ZodType | null>>;
  /** Further media type of the response, besides JSON. */
  readonly otherMediaType?: string;
  /** Media types of a file response, which replaces JSON. */
  readonly streams?: readonly string[];
}

export function accessOf({ method, access }: Pick<RouteDescription, "method" | "access">): Access {
  return access ?? (method === "GET" ? "read" : "write");
}

export interface ApiCall<Query = unknown, Body = unknown> {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly ifMatch: IfMatch | null;
  readonly idempotencyKey: string | null;
  /** `req_…` id of this call. */
  readonly requestId: string;
  /** SHA-256 of the session that the caller's token belongs to; null: not a session's token. */
  readonly sessionHash: string | null;
}

/** Call below `/api/organizations/{organization}`: it exists, and the caller may access it. */
export interface OrganizationCall<Query = unknown, Body = unknown> extends ApiCall<Query, Body> {
  readonly organization: OrganizationRecord;
}

export interface ApiAnswer {
  readonly status: number;
  /** JSON, or a text with its media type in `headers`. */
  readonly body?: object | string | ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiRoute extends RouteDescription {
  readonly handle: Handler<ApiCall>;
}

export interface OrganizationRoute extends RouteDescription {
  readonly handleInOrganization: Handler<OrganizationCall>;
}

type Given = z.ZodType | undefined;
type Output<Schema extends Given> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type Schemas<Query, Body> = RouteDescription & {
  readonly query?: Query;
  readonly body?: Body;
};
type Handler<Call> = (call: Call, services: ApiServices) => Promise<ApiAnswer>;

/** Parts of a route that its type keeps, so that the dashboard's calls have typed responses. */
interface Named<Method, Path, Answers> {
  readonly method: Method;
  readonly path: Path;
  readonly answers: Answers;
}
type Typed<Route extends RouteDescription, Method, Path, Answers> = Omit<
  Route,
  "method" | "path" | "answers"
> &
  Named<Method, Path, Answers>;

/** Defines a route whose handler gets the values checked by its schemas. */
export function defineRoute<
  const Method extends RouteDescription["method"],
  const Path extends string,
  Answers extends RouteDescription["answers"],
  Query extends Given = undefined,
  Body extends Given = undefined,
>(
  route: Schemas<Query, Body> &
    Named<Method, Path, Answers> & { readonly handle: Handler<ApiCall<Output<Query>, Output<Body>>> },
): Typed<ApiRoute, Method, Path, Answers> {
  // run-route.ts only passes a handler the output of its own schemas.
  return { ...route, handle: route.handle as ApiRoute["handle"] };
}

/** Defines such a route below `/api/organizations/{organization}`. */
export function defineOrganizationRoute<
  const Method extends RouteDescription["method"],
  const Path extends string,
  Answers extends RouteDescription["answers"],
  Query extends Given = undefined,
  Body extends Given = undefined,
>(
  route: Schemas<Query, Body> &
    Named<Method, Path, Answers> & {
      readonly handleInOrganization: Handler<OrganizationCall<Output<Query>, Output<Body>>>;
    },
): Typed<OrganizationRoute, Method, Path, Answers> {
  const { handleInOrganization } = route;
  return {
    ...route,
    handleInOrganization: handleInOrganization as OrganizationRoute["handleInOrganization"],
  };
}
