/** Services shared by all ext_proc streams of a worker. */
import type { CollectedBodyOptions } from "../data-path/exchange/bodies/collected-body.ts";
import type { ExchangeOptions } from "../data-path/exchange/exchange.ts";
import type { UpstreamCall } from "../data-path/exchange/upstream/upstream-call.ts";
import type { Admission } from "../data-path/limits/admission.ts";
import type { Logger } from "../shared/host/logger.ts";
import type { AdmissionReader } from "./read-admission.ts";
import type { SilenceWatch } from "./silence-watch.ts";

export interface StreamServices extends AdmissionReader {
  readonly createExchange: (options: ExchangeOptions) => UpstreamCall;
  /** Creates calls of the endpoints that count tokens. */
  readonly createCount: (admission: Admission) => UpstreamCall;
  /** Bound the memory of arriving bodies. */
  readonly collecting: CollectedBodyOptions;
  readonly silence: Pick<SilenceWatch, "watch">;
  readonly logger: Logger<"warn" | "error">;
}
