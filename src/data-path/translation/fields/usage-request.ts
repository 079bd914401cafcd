import type { ModelProfile } from "../../../shared/contract/model-profile.ts";

/** How a stream's usage is requested. */
export interface UsageRequest {
  readonly isContinuous: boolean;
}

/** Returns null if usage is not requested; `stream_options` are removed then. */
export function createUsageRequest({
  streamOptions,
  continuousUsage,
}: Pick<ModelProfile, "streamOptions" | "continuousUsage">): UsageRequest | null {
  return streamOptions === "drop" ? null : { isContinuous: continuousUsage };
}
