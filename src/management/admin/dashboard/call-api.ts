/** In-process calls of the management API: same checks, rights and audit log as over HTTP. */
import type { Principal } from "../principal.ts";
import type { ApiAnswer, ApiServices } from "../api/route.ts";
import { type AnswerBodies, API_ROUTES } from "../api/routes.ts";
import { runRoute } from "../api/run-route.ts";

interface CallOptions {
  readonly query?: Readonly<Record<string, string>>;
  /** Parameters of the API's path that the page's path does not have. */
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** ETag. */
  readonly ifMatch?: string;
  readonly idempotencyKey?: string;
}

/** Response with the body type of its route's schema; any type for calls only known at run time. */
type AnswerOf<Call extends string> = Call extends keyof AnswerBodies
  ? // A file that is streamed is no object of a schema.
    AnswerBodies[Call] extends object
    ? Omit<ApiAnswer, "body"> & { readonly body: AnswerBodies[Call] }
    : ApiAnswer
  : ApiAnswer;

/** `call`: method and path as in the table of routes, "GET /api/catalog". */
export type CallApi = <Call extends string>(call: Call, options?: CallOptions) => Promise<AnswerOf<Call>>;

interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
  /** Parameters of the page's path, which the API's path has under the same names. */
  readonly params: Readonly<Record<string, string>>;
}

/** Creates calls for a principal. The calls throw like `runRoute`. */
export function createCallApi({ principal, requestId, params }: Caller, services: ApiServices): CallApi {
  return async <Call extends string>(call: Call, options: CallOptions = {}) => {
    const route = findRoute(call);
    if (route === undefined) throw new TypeError(`there is no ${call}`);
    const { query = {}, body, ifMatch, idempotencyKey } = options;
    // Only the path's own parameters are passed; the URL only carries the query.
    const own = Object.entries({ ...params, ...options.params }).filter(([name]) =>
      route.path.includes(`{${name}}`),
    );
    const url = `http://localhost/?${new URLSearchParams(query).toString()}`;
    const headers = {
      ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    };
    const request = new Request(url, {
      method: route.method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const input = { request, principal, params: Object.fromEntries(own), requestId };
    // A route's responses match its own schemas.
    return (await runRoute(route, input, services)) as AnswerOf<Call>;
  };
}

function findRoute(call: string) {
  return API_ROUTES.find((route) => `${route.method} ${route.path}` === call);
}
