import type { Outcome } from "../request-log/line.ts";
import type { Answer, AnswerOutput } from "../translation/client-protocol.ts";

/** An error in an answer of status 200 is one all the same: where it came before anything was generated, it is free. */
export function howItFailed({ observation }: Answer): Outcome {
  return observation.isRefused ? "refused_by_upstream" : "broken";
}

export function joinOutputs(first: AnswerOutput, second: AnswerOutput): AnswerOutput {
  if (first.bytes.byteLength === 0) return second;
  return { ...second, bytes: Buffer.concat([first.bytes, second.bytes]) };
}
