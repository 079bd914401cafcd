/** The management API, called in process: the same checks, rights and audit log as over HTTP. */
import type { Principal } from "../principal.ts";
import type { ApiAnswer, ApiServices } from "../api/route.ts";
import { type AnswerBodies, API_ROUTES } from "../api/routes.ts";
import { runRoute } from "../api/run-route.ts";

interface CallOptions {
  readonly query?: Readonly<Record<string, string>>;
  /** Names in the API's path that the page's path does not have. */
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** An ETag. */
  readonly ifMatch?: string;
  readonly idempotencyKey?: string;
}

/** An answer with the type that its route's schema gives its body; of a call that is known at run time alone, any. */
type AnswerOf<Call extends string> = Call extends keyof AnswerBodies
  ? // A file that is streamed is no object of a schema.
    AnswerBodies[Call] extends object
    ? Omit<ApiAnswer, "body"> & { readonly body: AnswerBodies[Call] }
    : ApiAnswer
  : ApiAnswer;

/** `call`: method and path as the table of routes has them, "GET /api/catalog". */
export type CallApi = <Call extends string>(call: Call, options?: CallOptions) => Promise<AnswerOf<Call>>;

interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
  /** Of the page's path: what it names, the API's path has under the same name. */
  readonly params: Readonly<Record<string, string>>;
}

/** Calls in the name of a principal. The calls throw what `runRoute` throws. */
export function createCallApi({ principal, requestId, params }: Caller, services: ApiServices): CallApi {
  return async <Call extends string>(call: Call, options: CallOptions = {}) => {
    const route = findRoute(call);
    if (route === undefined) throw new TypeError(`there is no ${call}`);
    const { query = {}, body, ifMatch, idempotencyKey } = options;
    // The path's parameters are given apart, and only its own; the address only carries the query.
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
    const asked = { request, principal, params: Object.fromEntries(own), requestId };
    // A route answers by its own schemas.
    return (await runRoute(route, asked, services)) as AnswerOf<Call>;
  };
}

function findRoute(call: string) {
  return API_ROUTES.find((route) => `${route.method} ${route.path}` === call);
}
