/**
 * Admitted requests that never came to ext_proc, since their body did not: it came too slowly, is too large, or is no HTTP.
 * Envoy has answered them by itself; its access log has their admission, and here they get what each refusal gets: an entry
 * of the list, a line of the log, their place among those in flight back. Nothing of them was sent anywhere.
 */
import { GatewayError } from "../contract/errors.ts";
import type { Admission } from "../limits/admission.ts";
import type { Settlement } from "../settlement/settlement.ts";
import type { FinishedRequest, RequestMeter } from "../telemetry/request-meter.ts";
import { parseAdmissionHeader, parseAwaitedHeader } from "./admission-header.ts";
import type { AdmissionsUnderWay } from "./admissions-under-way.ts";
import { codeToldFor } from "./broken-end.ts";
import { describeEnd } from "./describe-end.ts";
import { METERED_ENDPOINTS } from "./endpoints.ts";
import type { ReportedEnd } from "./reported-ends.ts";
import type { Uploads } from "./uploads.ts";

export interface UnreadServices {
  readonly underWay: Pick<AdmissionsUnderWay, "take">;
  readonly uploads: Pick<Uploads, "end">;
  readonly settlement: Pick<Settlement, "leave" | "recordRefusal">;
  readonly meter: Pick<RequestMeter, "finished">;
}

/** A body that Envoy did not take. */
const BODY_STATUSES: ReadonlySet<number> = new Set([400, 408, 413]);
const NAMELESS = { model: null, requestedModel: null };

export class UnreadRequests {
  readonly #services: UnreadServices;

  constructor(services: UnreadServices) {
    this.#services = services;
  }

  /**
   * @param end Envoy's own: of a request that ext_proc has not answered, nor an upstream.
   * @param header The admission's, as ext_authz wrote it.
   * @param durationMs From the request's first byte to its end.
   */
  async onEnd(header: string, end: ReportedEnd, durationMs: number): Promise<void> {
    const code = BODY_STATUSES.has(end.status) ? codeToldFor(end.status) : undefined;
    const admission = await this.#readAdmission(header, code !== undefined);
    if (admission === null) return;
    // Whoever is gone sends no more of it.
    this.#services.uploads.end(admission);
    if (code === undefined) return;
    const error = new GatewayError(code, { cause: new Error(end.details) });
    this.#record(admission, error, { status: end.status, durationMs });
  }

  /** Null: it was decided elsewhere, or refused, or somebody else may want it. */
  async #readAdmission(header: string, isUnread: boolean): Promise<Admission | null> {
    const awaited = parseAwaitedHeader(header);
    if (awaited === null) return parseAdmissionHeader(header);
    const decision = isUnread ? await this.#services.underWay.take(awaited.requestId)?.decided : undefined;
    return decision?.kind === "admitted" ? decision.admission : null;
  }

  #record(
    admission: Admission,
    error: GatewayError,
    { status, durationMs }: Pick<FinishedRequest, "status" | "durationMs">,
  ): void {
    const { settlement, meter } = this.#services;
    const timeline = { bodyMs: null, routedMs: null, upstreamMs: null, firstTokenMs: null };
    const way = { timeline: { ...timeline, endMs: Math.round(durationMs) }, upstream: null };
    if (METERED_ENDPOINTS.has(admission.endpoint)) settlement.leave(admission);
    settlement.recordRefusal(admission, NAMELESS, { status, errorCode: error.publicCode, way }, error);
    meter.finished(describeEnd(admission, { status, error, durationMs }));
  }
}
