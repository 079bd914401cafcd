/**
 * OpenAPI 3.1 document of the client API's own endpoints: the key, its requests, its models. This server
 * publishes it; Envoy serves the endpoints. Model endpoints are documented by OpenAI and Anthropic.
 */
import * as z from "zod";
import { modelBody, modelListBody } from "../../../data-path/catalog/answer-schemas.ts";
import { ERRORS, type ErrorCode } from "../../../shared/contract/errors.ts";
import { keyStatus } from "../../../data-path/limits/reports/key-status.ts";
import {
  DEFAULT_REQUESTS,
  MAX_REQUESTS,
  requestList,
} from "../../../data-path/limits/reports/request-list.ts";
import { usageList } from "../../../data-path/limits/reports/usage-list.ts";
import { requestStatus } from "../../../data-path/limits/reports/request-status.ts";
import { errorBody } from "../schemas/fields.ts";
import {
  describeError,
  describeJson,
  describeParameter,
  describeSchemas,
  type JsonObject,
} from "./describe-schemas.ts";

const DESCRIPTION =
  "Calls for an API key about itself: its limits, spend and headroom, its usage, its requests, its models. Each call takes one request from the rate limit, is free, and isn't blocked by caps. Amounts are whole cents (`…_cents`) or millionths of a cent (`…_microcents`) of the organization's currency.";

/** Address of the gateway if `listen` is not set. */
const DEFAULT_SERVER = { url: "http://127.0.0.1:10000", description: "`listen` of gateway.yaml." };

const named = z
  .registry<{ id: string }>()
  .add(keyStatus, { id: "Key" })
  .add(requestStatus, { id: "Request" })
  .add(usageList, { id: "UsageList" })
  .add(requestList, { id: "RequestList" })
  .add(modelBody, { id: "Model" })
  .add(modelListBody, { id: "ModelList" })
  .add(errorBody, { id: "Error" });

/** Errors that all of these endpoints may return. */
const COMMON: readonly ErrorCode[] = [
  "missing_api_key",
  "invalid_api_key",
  "key_disabled",
  "key_expired",
  "user_disabled",
  "organization_suspended",
  "rate_limit_exceeded",
  "internal_error",
  "gateway_unavailable",
];

interface Endpoint {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly JsonObject[];
  readonly answer: z.ZodType;
  /** Errors of this endpoint only, by status: codes with their meaning. */
  readonly errors?: Readonly<Record<number, string>>;
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  "/v1/key": {
    operationId: "getKey",
    summary: "Limits, spend and headroom of the key, and what blocks it.",
    answer: keyStatus,
  },
  "/v1/usage": {
    operationId: "listUsage",
    summary: "Show what requests of the key used and cost, by day and model, newest day first.",
    parameters: [
      describeParameter("query", "from", "First day (UTC); default: the first of this month.", {
        examples: ["2026-11-01"],
      }),
      describeParameter("query", "to", "Last day (UTC); default: today.", { examples: ["2026-11-21"] }),
    ],
    answer: usageList,
    errors: { 400: describeCode("invalid_parameter") },
  },
  "/v1/requests": {
    operationId: "listRequests",
    summary: "List recent requests of the key, newest first, rejected ones included.",
    parameters: [
      describeParameter("query", "limit", `Maximum number of requests; default: ${DEFAULT_REQUESTS}.`, {
        type: "integer",
        minimum: 1,
        maximum: MAX_REQUESTS,
      }),
      describeParameter(
        "query",
        "after",
        "`next` of the previous page. One call looks through 400 requests of the organization, so a page can have fewer than `limit` and a `next`.",
      ),
    ],
    answer: requestList,
    errors: { 400: describeCode("invalid_parameter") },
  },
  "/v1/requests/{request_id}": {
    operationId: "getRequest",
    summary: "Show the cost of a recent request of the key, or why it was rejected.",
    parameters: [
      describeParameter("path", "request_id", "Id of the request: `x-request-id` of its response.", {
        examples: ["req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"],
      }),
    ],
    answer: requestStatus,
    errors: { 404: describeCode("request_not_found") },
  },
  "/v1/models": {
    operationId: "listModels",
    summary: "Models that the key can use, in the catalog's order.",
    parameters: [
      describeParameter("query", "include", "`aliases` lists other names after each model.", {
        enum: ["aliases"],
      }),
      describeParameter("query", "limit", "Maximum number of models; without it, all.", {
        type: "integer",
        minimum: 1,
        maximum: 1_000,
      }),
      describeParameter("query", "after_id", "`last_id` of the previous page."),
      describeParameter("query", "before_id", "`first_id` of the next page; not with `after_id`."),
    ],
    answer: modelListBody,
    errors: { 400: describeCode("invalid_parameter") },
  },
  "/v1/models/{model}": {
    operationId: "getModel",
    summary: "One model, by its id or another name.",
    parameters: [
      describeParameter("path", "model", "Id of the model; its slash can be `%2F`.", {
        examples: ["acme/echo-small"],
      }),
    ],
    answer: modelBody,
    errors: { 404: "`model_not_found`: The key may use no model of this id or name." },
  },
};

/** Returns a plain JSON object. `docs/openapi-customers.json` is the version without a server; a test compares both. */
export function createCustomersDocument(): JsonObject {
  return {
    openapi: "3.1.0",
    info: { title: "Inference gateway: what an API key can ask", version: "1", description: DESCRIPTION },
    servers: [DEFAULT_SERVER],
    security: [{ bearer: [] }, { header: [] }],
    paths: Object.fromEntries(
      Object.entries(ENDPOINTS).map(([path, endpoint]) => [path, { get: describeOperation(endpoint) }]),
    ),
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The API key." },
        header: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "The same, as Anthropic's SDKs send it.",
        },
      },
      headers: HEADERS,
      schemas: describeSchemas(named),
    },
  };
}

function describeOperation({ operationId, summary, parameters, answer, errors }: Endpoint): JsonObject {
  const byStatus = { ...describeCommonErrors(), ...errors };
  return {
    operationId,
    summary,
    ...(parameters === undefined ? {} : { parameters }),
    responses: {
      200: { description: "Done.", headers: referToHeaders(), content: describeJson(named, answer) },
      ...Object.fromEntries(
        Object.entries(byStatus).map(([status, description]) => [
          status,
          { ...describeError(named, errorBody), description, headers: referToHeaders(Number(status)) },
        ]),
      ),
      default: describeError(named, errorBody),
    },
  };
}

/** Returns a sentence for each possible code, by status. */
function describeCommonErrors(): Record<number, string> {
  const byStatus: Record<number, string> = {};
  for (const code of COMMON) {
    const { status } = ERRORS[code];
    const before = byStatus[status];
    byStatus[status] = before === undefined ? describeCode(code) : `${before} ${describeCode(code)}`;
  }
  return byStatus;
}

function describeCode(code: ErrorCode): string {
  return `\`${code}\`: ${ERRORS[code].message}`;
}

const header = (description: string, schema: JsonObject) => ({ description, schema });

const HEADERS = {
  "x-request-id": header("The id that errors carry as `request_id`.", { type: "string" }),
  "x-service-ratelimit-remaining": header(
    "Whole requests left in the key's bucket; 0 also if the bucket was not read.",
    {
      type: "integer",
      minimum: 0,
    },
  ),
  "retry-after": header("Whole seconds until a retry can succeed.", {
    type: "integer",
    minimum: 1,
    maximum: 59,
  }),
};

/** Returns the headers of a response with this status. Default: success. */
function referToHeaders(status = 200): JsonObject {
  const isWorthATry = status === 429 || status === 503;
  const names = Object.keys(HEADERS).filter((name) => name !== "retry-after" || isWorthATry);
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
