/** OpenAPI 3.1 document of the management API, derived from the routes and the schemas that check requests. */
import * as z from "zod";
import { errorBody, namedSchemas } from "../schemas/fields.ts";
import type { RouteDescription } from "../api/route.ts";
import { API_ROUTES } from "../api/routes.ts";
import {
  describeError,
  describeJson,
  describeParameter,
  describeSchemas,
  type JsonObject,
} from "./describe-schemas.ts";

const DESCRIPTION =
  "Organizations, API keys, limits, spend. Amounts are whole cents (`…_cents`) or millionths of a cent (`…_microcents`) of the organization's currency. Changes apply from the next request, on every worker.";

/** Address of the management API if `admin.host` and `admin.port` are not set. */
const DEFAULT_SERVER = {
  url: "http://127.0.0.1:10001",
  description: "`admin.host` and `admin.port` of gateway.yaml.",
};

/**
 * Returns a plain JSON object. `docs/openapi.json` is the version without a server; a test compares both.
 *
 * @param serverUrl Address of the server that publishes it, or relative to the document's address.
 */
export function createOpenApiDocument(serverUrl: string | null = null): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of API_ROUTES) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = describeOperation(route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Inference gateway: management API", version: "1", description: DESCRIPTION },
    servers: [serverUrl === null ? DEFAULT_SERVER : { url: serverUrl }],
    security: [{ token: [] }],
    tags: [...new Set(API_ROUTES.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "The operator's token, or an organization's (`POST …/tokens`).",
        },
      },
      schemas: describeSchemas(namedSchemas),
    },
  };
}

function describeOperation(route: (typeof API_ROUTES)[number]): JsonObject {
  const parameters = [...describePath(route), ...describeQuery(route), ...describeHeaders(route)];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, describeAccess(route)].filter((text) => text !== undefined).join(" "),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: route.isBodyOptional !== true, content: jsonOf(route.body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, schema]) => [status, describeAnswer(route, schema)]),
      ),
      default: describeError(namedSchemas, errorBody),
    },
  };
}

function describeAccess({ access, member }: RouteDescription): string {
  if (member === true) {
    return "For people who have signed in and are users of the organization; not for tokens.";
  }
  if (access === "operator") return "For the operator's token.";
  return access === "write" ? "Not for tokens with the role `viewer`." : "For every token.";
}

function describeAnswer(route: RouteDescription, schema: z.ZodType | null): JsonObject {
  if (route.streams !== undefined) {
    const content = route.streams.map((type) => [type, { schema: { type: "string", format: "binary" } }]);
    return { description: "The file.", content: Object.fromEntries(content) };
  }
  if (schema === null) return { description: "Done." };
  const other =
    route.otherMediaType === undefined ? {} : { [route.otherMediaType]: { schema: { type: "string" } } };
  const headers = {
    ETag: { description: "Version of the settings, for `If-Match`.", schema: { type: "string" } },
  };
  return {
    description: "Done.",
    ...(route.usesIfMatch ? { headers } : {}),
    content: { ...jsonOf(schema), ...other },
  };
}

function describePath({ path }: RouteDescription): JsonObject[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) =>
    describeParameter("path", name, `Id of the ${name}.`),
  );
}

function describeQuery({ query }: RouteDescription): JsonObject[] {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, { io: "input" });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as JsonObject;
    return { name, in: "query", ...(description === undefined ? {} : { description }), schema };
  });
}

function describeHeaders({ usesIfMatch, usesIdempotencyKey }: RouteDescription): JsonObject[] {
  const etag = "The `ETag` that was read; 412 if it has changed since. `*`: any.";
  const repeat = "A repeated call with the same key changes nothing.";
  return [
    ...(usesIfMatch ? [describeParameter("header", "If-Match", etag)] : []),
    ...(usesIdempotencyKey ? [describeParameter("header", "Idempotency-Key", repeat)] : []),
  ];
}

const jsonOf = (schema: z.ZodType): JsonObject => describeJson(namedSchemas, schema);
