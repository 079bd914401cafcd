import { pause } from "../../shared/event-loop/wait.ts";
import { HEALTH_CHECK } from "../messages/codec.ts";
import { LASTING_CALLS } from "./lasting-calls.ts";

/** Envoy checks health twice a second, and then sends new calls to other hosts. */
const NOTICE_MS = 1_500;
/** Without a new call for this long, Envoy has stopped sending. */
const QUIET_MS = 500;
/** Bound for an Envoy with too little CPU to check in time, which keeps sending. */
const MAX_NOTICE_MS = 5_000;

/**
 * The time between the first NOT_SERVING and the first GOAWAY, in which Envoy notices. Until then its connections must be
 * accepted, or the requests on them fail.
 */
export class DrainNotice {
  #calls = 0;

  /** Records a new call. Health checks and the access log last as long as their connection, and do not count. */
  onCall(path: string | undefined): void {
    if (path !== HEALTH_CHECK.path && !LASTING_CALLS.has(path)) this.#calls += 1;
  }

  /** Resolves when no new calls come any more, after `boundMs` at the latest. */
  async wait(boundMs: number): Promise<void> {
    const endMs = performance.now() + Math.min(MAX_NOTICE_MS, boundMs);
    await pause(Math.min(NOTICE_MS - QUIET_MS, boundMs));
    let before: number;
    do {
      before = this.#calls;
      await pause(Math.min(QUIET_MS, endMs - performance.now()));
    } while (this.#calls !== before && performance.now() < endMs);
  }
}
