/** Services shared by all metered requests of a worker. */
import type { Catalog } from "../catalog/catalog.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Settlement } from "../settlement/settlement.ts";
import type { RequestMeter } from "../../shared/telemetry/request-meter.ts";
import type { Protocol, ProtocolName } from "../translation/client-protocol.ts";
import type { BodyBudget } from "./bodies/body-budget.ts";
import type { ReachedUpstreams } from "./ends/reached-upstreams.ts";
import type { ReportedEnds } from "./ends/reported-ends.ts";

export interface ExchangeServices {
  readonly catalog: () => Catalog;
  readonly protocols: Readonly<Record<ProtocolName, Protocol>>;
  readonly settlement: Settlement;
  readonly budget: BodyBudget;
  readonly reached: Pick<ReachedUpstreams, "has" | "note">;
  readonly ends: Pick<ReportedEnds, "expect">;
  readonly nowMs: () => number;
  readonly logger: Logger<"warn">;
  readonly meter: Pick<RequestMeter, "routed" | "retried" | "chunk" | "finished">;
}
