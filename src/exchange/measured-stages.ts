/** The stages that answer without an upstream, with a stopwatch. */
import { GatewayError } from "../errors.ts";
import type { RequestMeter } from "../telemetry/request-meter.ts";
import type { AdmissionContext } from "./admission-context.ts";
import type { AdmitRequest } from "./admit-request.ts";
import type { Answers } from "./answers.ts";
import { findEndpoint } from "./endpoints.ts";
import type { Reply } from "./reply.ts";

/** Tells the meter what each admission took, and of each request that ends with it. Readiness probes do not count. */
export function measureAdmission(admit: AdmitRequest, meter: RequestMeter): AdmitRequest {
  return async (request) => {
    const startMs = performance.now();
    const verdict = await admit(request);
    const durationMs = performance.now() - startMs;
    if (verdict.kind === "admitted") {
      meter.admitted(durationMs / 1000);
      return verdict;
    }
    const { reply, log } = verdict;
    const { name } = findEndpoint(request.path).endpoint;
    if (name === "readiness" && log.errorCode === null) return verdict;
    meter.admitted(durationMs / 1000);
    meter.finished({
      requestId: reply.headers.find(([header]) => header === "x-request-id")?.[1] ?? null,
      route: name,
      organizationId: log.organizationId,
      keyId: log.keyId,
      currency: null,
      model: null,
      status: reply.status,
      code: log.errorCode,
      settled: null,
      usageContradiction: null,
      durationMs,
      firstTokenMs: null,
    });
    return verdict;
  };
}

/** Tells the meter of each request that the gateway answers by itself. */
export function measureAnswers(answers: Answers, meter: RequestMeter): Answers {
  return {
    answer: (context, headers) => measure(context, meter, () => answers.answer(context, headers)),
    answerBody: (context, body) => measure(context, meter, () => answers.answerBody(context, body)),
  };
}

async function measure(
  context: AdmissionContext,
  meter: RequestMeter,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  const startMs = performance.now();
  const { requestId, endpoint, organizationId, keyId, currency, protocol } = context;
  const report = (status: number, code: string | null): void =>
    meter.finished({
      requestId,
      route: endpoint,
      organizationId,
      keyId,
      currency,
      model: null,
      status,
      code,
      settled: null,
      usageContradiction: null,
      durationMs: performance.now() - startMs,
      firstTokenMs: null,
    });
  try {
    const reply = await answer();
    report(reply.status, null);
    return reply;
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    report(error.status(protocol), error.publicCode);
    throw thrown;
  }
}
