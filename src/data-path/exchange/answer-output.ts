import type { Outcome } from "../request-log/line.ts";
import type { Answer, AnswerOutput } from "../translation/client-protocol.ts";

/** An error inside a response of status 200 counts as a failure: it is free if it came before any output. */
export function howItFailed({ observation }: Answer): Outcome {
  return observation.isRefused ? "refused_by_upstream" : "broken";
}

export function joinOutputs(first: AnswerOutput, second: AnswerOutput): AnswerOutput {
  if (first.bytes.byteLength === 0) return second;
  return { ...second, bytes: Buffer.concat([first.bytes, second.bytes]) };
}
