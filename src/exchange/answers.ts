/** The endpoints that the gateway answers by itself: models, the key's status, its recent requests. */
import type { Catalog } from "../catalog/catalog.ts";
import { getModel, listModels } from "../catalog/models-response.ts";
import { GatewayError } from "../errors.ts";
import { formatKeyStatus } from "../limits/key-status.ts";
import { formatRequestStatus } from "../limits/request-status.ts";
import type { Store } from "../store/types.ts";
import type { RequestMeter } from "../telemetry/request-meter.ts";
import type { AdmissionContext } from "./admission-context.ts";
import type { BodyBudget } from "./body-budget.ts";
import { describeEnd } from "./describe-end.ts";
import { type Reply, createJsonReply } from "./reply.ts";

export interface Answers {
  /** An endpoint without a body. @throws GatewayError */
  answer(context: AdmissionContext, headers: Readonly<Record<string, string | undefined>>): Promise<Reply>;
  /** An endpoint with a body that is not sent upstream. @throws GatewayError */
  answerBody(context: AdmissionContext, body: Uint8Array): Promise<Reply>;
}

export interface AnswerServices {
  readonly catalog: () => Catalog;
  readonly store: Pick<Store, "getKey" | "getOrganization" | "readSpend" | "findRequest">;
  /** The prompt's tokens of a request body, as its protocol tells them. @throws GatewayError */
  readonly countTokens: (body: Uint8Array, context: AdmissionContext) => Promise<object>;
  readonly budget: BodyBudget;
  readonly meter: Pick<RequestMeter, "finished">;
}

export function createAnswers(services: AnswerServices): Answers {
  const { meter, budget, countTokens } = services;
  return {
    answer: (context, headers) => telling(context, meter, () => answerByItself(services, context, headers)),
    answerBody: (context, body) =>
      telling(context, meter, async () => {
        budget.hold(body.byteLength);
        try {
          return createJsonReply(200, await countTokens(body, context), context);
        } finally {
          budget.release(body.byteLength);
        }
      }),
  };
}

/** Tells the meter how the request ends with this answer. */
async function telling(
  context: AdmissionContext,
  meter: AnswerServices["meter"],
  answer: () => Promise<Reply>,
): Promise<Reply> {
  const startMs = performance.now();
  const tell = (status: number, code: string | null): void =>
    meter.finished(describeEnd(context, { status, code, durationMs: performance.now() - startMs }));
  try {
    const reply = await answer();
    tell(reply.status, null);
    return reply;
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    tell(error.status(context.protocol), error.publicCode);
    throw thrown;
  }
}

async function answerByItself(
  services: AnswerServices,
  context: AdmissionContext,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<Reply> {
  switch (context.endpoint) {
    case "models":
      return createJsonReply(
        200,
        listModels(services.catalog(), context, queryOf(headers[":path"])),
        context,
      );
    case "model":
      return createJsonReply(200, getModel(services.catalog(), context, context.resource ?? ""), context);
    case "key":
      return createJsonReply(200, await keyStatus(services, context), context);
    case "request":
      return createJsonReply(200, await requestStatus(services, context), context);
    case "chat_completions":
    case "messages":
    case "responses":
    case "count_tokens":
    case "readiness":
    case "unknown":
      break;
  }
  throw new GatewayError("unknown_endpoint");
}

async function keyStatus({ store }: AnswerServices, context: AdmissionContext) {
  const [key, organization, spend] = await reachable(
    Promise.all([
      store.getKey(context),
      store.getOrganization(context.organizationId),
      store.readSpend(context.organizationId, null, [context.keyId]),
    ]),
  );
  if (key === null || organization === null) throw new GatewayError("invalid_api_key");
  const { remaining, capacity } = context.rate;
  return formatKeyStatus({ key, organization, spend, remainingRequests: remaining, burst: capacity });
}

async function requestStatus({ store }: AnswerServices, context: AdmissionContext) {
  const { organizationId, keyId, resource } = context;
  const found = await reachable(store.findRequest(organizationId, resource ?? "", keyId));
  if (found === null) throw new GatewayError("request_not_found");
  return formatRequestStatus(found);
}

async function reachable<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    throw new GatewayError("gateway_unavailable", { cause: error });
  }
}

function queryOf(path = ""): URLSearchParams {
  const start = path.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : path.slice(start + 1));
}
