/** Readings of an answer for one `expect`: what a test compares, and every breach of the contract beside it. */
import { type HttpAnswer, readError } from "./http.ts";

/** An error answer of the OpenAI routes. */
export interface ErrorSummary {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly message: string;
  readonly retryAfter: string | null;
  /** What the contract forbids and the answer does. */
  readonly breaches: readonly string[];
}

/** "200" for a whole answer with status 200 that keeps the contract; else everything that helps to see why not. */
export function describeAnswer(answer: HttpAnswer): string {
  const breaches = findHeaderBreaches(answer);
  if (!answer.complete) breaches.push("cut");
  if (answer.status === 200 && breaches.length === 0) return "200";
  return `${answer.status} ${breaches.join(", ")} ${answer.text.slice(0, 2_000)}`;
}

/** Throws when the answer is no error. */
export function summarizeError(answer: HttpAnswer): ErrorSummary {
  const { type, code, param, message, request_id, doc_url } = readError(answer);
  const { status, headers } = answer;
  const breaches = findHeaderBreaches(answer);
  const retryAfter = headers["retry-after"] ?? null;
  const isLater = status === 429 || status === 503 || status === 529;
  if (headers["content-type"]?.startsWith("application/json") !== true) breaches.push("content-type");
  if (request_id !== headers["x-request-id"]) breaches.push(`error.request_id ${request_id}`);
  if (!/\/errors(?:\.html)?#[-a-z_]+$/.test(String(doc_url))) {
    breaches.push(`error.doc_url ${String(doc_url)}`);
  }
  if (headers["x-should-retry"] !== String(status === 429 || status >= 500)) breaches.push("x-should-retry");
  if (isLater ? !isRetryAfter(retryAfter) : retryAfter !== null) breaches.push(`retry-after ${retryAfter}`);
  if ("message" in answer.json()) breaches.push("message at the top level");
  return { status, type, code, param, message, retryAfter, breaches };
}

/** What every answer has: both ids, equal, and the bucket's remaining requests. */
function findHeaderBreaches({ headers }: HttpAnswer): string[] {
  const breaches: string[] = [];
  const id = headers["x-request-id"];
  // What Envoy answers by itself has Envoy's own id, without our prefix.
  if (typeof id !== "string" || id === "") breaches.push(`x-request-id ${String(id)}`);
  if (headers["request-id"] !== id) breaches.push(`request-id ${String(headers["request-id"])}`);
  const remaining = String(headers["x-service-ratelimit-remaining"]);
  if (!/^\d+$/u.test(remaining)) breaches.push(`x-service-ratelimit-remaining ${remaining}`);
  return breaches;
}

function isRetryAfter(value: string | null): boolean {
  return value !== null && /^\d+$/u.test(value) && Number(value) >= 1 && Number(value) <= 59;
}
