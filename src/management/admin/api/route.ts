/**
 * What an endpoint of the management API is: data, from which the server is routed, requests are checked and the
 * OpenAPI document is made. A handler sees values that were checked and a caller who may do this.
 */
import type { z } from "zod";
import type { Catalog } from "../../../data-path/catalog/catalog.ts";
import type { ConfigState } from "../../../shared/config/reload/config-state.ts";
import type { Logger } from "../../../shared/host/logger.ts";
import type { OrganizationRecord } from "../../../data-path/store/types/management.ts";
import type { Store } from "../../../data-path/store/types.ts";
import type { LogLevel } from "../../../shared/telemetry/log-level.ts";
import type { IfMatch } from "../http/etag.ts";
import type { Principal } from "../principal.ts";
import type { ReportTurns } from "../report-turns.ts";

export interface ApiServices {
  readonly store: Store;
  readonly reports: ReportTurns;
  readonly catalog: () => Catalog;
  /** How the running configuration stands to its file. */
  readonly readConfigState: () => ConfigState | Promise<ConfigState>;
  /** `dashboard.base_url`, without a slash at its end; null or left out: it is not set. */
  readonly dashboardUrl?: string | null;
  /** Mails can be sent: a mail server is configured. */
  readonly hasMailServer: boolean;
  /** `notifications.emails.allowed_domains`; null or left out: all. */
  readonly emailDomains?: readonly string[] | null;
  /** Webhooks may point into private networks and use plain `http`. */
  readonly allowPrivateWebhooks: boolean;
  /** For every process of this host; left out: nothing follows it. */
  readonly setLogLevel?: (level: LogLevel) => void | Promise<void>;
  readonly logger: Logger;
}

/** `read`: every token. `write`: not a viewer's. `operator`: the operator's alone. */
export type Access = "read" | "write" | "operator";

export interface RouteDescription {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `{organization}`, `{key}` …; below `/api/organizations/{organization}` a token must be for that one. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** "read" for GET and "write" for all others when left out. */
  readonly access?: Access;
  /** Somebody with the role member may, too: it is about that person alone. Left out: a member may not. */
  readonly member?: true;
  /** Left out: it takes no parameters. */
  readonly query?: z.ZodType;
  /** Left out: it takes no body. */
  readonly body?: z.ZodType;
  /** An empty body is an empty object. */
  readonly isBodyOptional?: true;
  readonly usesIfMatch?: true;
  readonly usesIdempotencyKey?: true;
  /** Status → schema of the body, null for none. */
  readonly answers: Readonly<Record<number, z.ZodType | null>>;
  /** Another form of the answer, besides JSON. */
  readonly otherMediaType?: string;
  /** The answer is a file of one of these media types, and no JSON. */
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
  /** `req_…` of this call. */
  readonly requestId: string;
  /** SHA-256 of the session that the caller's token belongs to; null: it is a token of its own. */
  readonly sessionHash: string | null;
}

/** A call below `/api/organizations/{organization}`: there is one, and the caller's token is for it. */
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

/** What the type of a route keeps of it, so that the dashboard's calls have the types of their answers. */
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

/** A route whose handler gets what its schemas have checked. */
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
  // run-route.ts gives a handler nothing but the output of its own schemas.
  return { ...route, handle: route.handle as ApiRoute["handle"] };
}

/** The same below `/api/organizations/{organization}`. */
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
