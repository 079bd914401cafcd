/** Endpoints that the gateway serves itself: models, the key's status and usage, recent requests. */
import type { Catalog } from "../../catalog/catalog.ts";
import { getModel, listModels, type ModelQuestion } from "../../catalog/models-response.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import type { Admission } from "../../limits/admission.ts";
import { type KeyStatusStore, readKeyStatus } from "../../limits/reports/read-key-status.ts";
import { formatRequestStatus, withoutAmounts } from "../../limits/reports/request-status.ts";
import { readRequestPage, type RequestList } from "../../limits/reports/request-list.ts";
import { UsageLists } from "../../limits/reports/usage-list.ts";
import type { RecentRequest } from "../../../shared/stored/reporting.ts";
import type { Store } from "../../../shared/stored/store.ts";
import type { RequestMeter } from "../../../shared/telemetry/request-meter.ts";
import type { Protocol, ProtocolName } from "../../translation/client-protocol.ts";
import { listEndpoints } from "./choose-translation.ts";
import { describeEnd } from "../ends/describe-end.ts";
import { type Reply, createJsonReply } from "../reply.ts";

export interface LocalEndpoints {
  /**
   * Serves an endpoint without a body.
   * @param path Path with query.
   * @throws GatewayError
   */
  answer(admission: Admission, path: string): Promise<Reply>;
}

export interface LocalEndpointServices {
  readonly catalog: () => Catalog;
  readonly protocols: Readonly<Record<ProtocolName, Protocol>>;
  readonly store: KeyStatusStore & Pick<Store, "findRequest" | "listRequests" | "readUsageOfDay">;
  readonly meter: Pick<RequestMeter, "finished">;
}

export function createLocalEndpoints(services: LocalEndpointServices): LocalEndpoints {
  const { meter } = services;
  const usageLists = new UsageLists(services.store);
  return {
    answer: (admission, path) =>
      reporting(admission, meter, () => answerWithoutBody({ ...services, usageLists }, admission, path)),
  };
}

/** Reports the result of the request to the meter. */
async function reporting(
  admission: Admission,
  meter: LocalEndpointServices["meter"],
  answer: () => Promise<unknown>,
): Promise<Reply> {
  const startMs = performance.now();
  const report = (status: number, error: GatewayError | null): void =>
    meter.finished(describeEnd(admission, { status, error, durationMs: performance.now() - startMs }));
  try {
    const reply = createJsonReply(200, await answer(), admission);
    report(reply.status, null);
    return reply;
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    report(error.status(admission.protocol), error);
    throw thrown;
  }
}

async function answerWithoutBody(
  services: LocalEndpointServices & { readonly usageLists: UsageLists },
  admission: Admission,
  path: string,
): Promise<unknown> {
  switch (admission.endpoint) {
    case "models":
      return listModels(services.catalog(), questionOf(services, admission), queryOf(path));
    case "model":
      return getModel(services.catalog(), questionOf(services, admission), admission.resource ?? "");
    case "key":
      return keyStatus(services, admission);
    case "usage":
      return reachable(services.usageLists.read(admission, queryOf(path)));
    case "requests":
      return requestList(services, admission, queryOf(path));
    case "request":
      return requestStatus(services, admission);
    case "chat_completions":
    case "messages":
    case "responses":
    case "responses_compact":
    case "embeddings":
    case "completions":
    case "count_tokens":
    case "readiness":
    case "unknown":
      break;
  }
  throw new GatewayError("unknown_endpoint");
}

/** The time is that of Redis at the admission. */
function questionOf({ protocols }: LocalEndpointServices, admission: Admission): ModelQuestion {
  return {
    viewer: admission.caller,
    nowMs: admission.rate.timeMs,
    isAnthropic: admission.protocol === "messages",
    listEndpoints: (model) => listEndpoints(model, protocols),
  };
}

async function keyStatus({ store }: LocalEndpointServices, { caller, identity, rate }: Admission) {
  const key = { ...caller, owners: identity.owners ?? "" };
  const bucket = { remainingRequests: rate.remaining, burst: rate.capacity };
  const status = await reachable(readKeyStatus(store, key, bucket));
  if (status === null) throw new GatewayError("invalid_api_key");
  return status;
}

async function requestStatus({ store }: LocalEndpointServices, admission: Admission) {
  const { resource, caller } = admission;
  const { organizationId, keyId } = caller;
  const [found, organization] = await reachable(
    Promise.all([
      store.findRequest(organizationId, resource ?? "", keyId),
      store.getOrganization(organizationId),
    ]),
  );
  if (found === null) throw new GatewayError("request_not_found");
  const status = formatRequestStatus(found);
  return organization?.hideAmounts === false ? status : withoutAmounts(status);
}

/**
 * Maximum number of requests that one call examines. This takes Redis half a millisecond, and a key may call as
 * often as its rate limit allows.
 */
const MAX_EXAMINED = 400;

async function requestList({ store }: LocalEndpointServices, admission: Admission, query: URLSearchParams) {
  const { organizationId, keyId } = admission.caller;
  const page = readRequestPage(query);
  const filter = {
    fromMs: null,
    keyId,
    maxExamined: MAX_EXAMINED,
    matches: (request: RecentRequest) => request.keyId === keyId,
  };
  const [{ items, next }, organization] = await reachable(
    Promise.all([store.listRequests(organizationId, page, filter), store.getOrganization(organizationId)]),
  );
  const shown = items.map(formatRequestStatus);
  const data = organization?.hideAmounts === false ? shown : shown.map((status) => withoutAmounts(status));
  return { object: "list", data, has_more: next !== null, next } satisfies RequestList;
}

async function reachable<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof GatewayError ? error : new GatewayError("gateway_unavailable", { cause: error });
  }
}

function queryOf(path: string): URLSearchParams {
  const start = path.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : path.slice(start + 1));
}
