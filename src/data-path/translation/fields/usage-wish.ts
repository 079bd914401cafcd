import type { ModelProfile } from "../../../shared/contract/model-profile.ts";

/** How a stream's usage is asked for. */
export interface UsageWish {
  readonly isContinuous: boolean;
}

/** Null: it is not, and no `stream_options` go upstream. */
export function wishForUsage({
  streamOptions,
  continuousUsage,
}: Pick<ModelProfile, "streamOptions" | "continuousUsage">): UsageWish | null {
  return streamOptions === "drop" ? null : { isContinuous: continuousUsage };
}
