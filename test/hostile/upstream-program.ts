/** The model server of both organizations, in a process of its own: it counts what each request of either has used. */
import { type Account, type CountingUpstream, startCountingUpstream } from "../faults/counting-upstream.ts";
import { serveCalls } from "./helper-process.ts";

/** What became of one request there. */
export interface ServedRequest {
  /** The gateway's, as its log has it. */
  readonly requestId: string;
  readonly promptTokens: number;
  /** That were written. */
  readonly outputTokens: number;
  /** Of the body that it got. */
  readonly bytes: number;
}

let upstream: CountingUpstream | null = null;

serveCalls({
  start: async () => {
    upstream = await startCountingUpstream();
    return upstream.url;
  },
  list: () => [...(upstream?.accounts.values() ?? [])].map(summarize),
});

function summarize({ requestId, bytes, order, tokenTimesMs }: Account): ServedRequest {
  return { requestId, bytes, promptTokens: order.promptTokens, outputTokens: tokenTimesMs.length };
}
