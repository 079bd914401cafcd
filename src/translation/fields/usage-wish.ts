import type { ModelProfile } from "../client-protocol.ts";

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
