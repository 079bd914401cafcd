/** Queue of usage reports: they read many rows, and reports of one organization must not delay others for long. */
import { createDeferred } from "../../shared/event-loop/deferred.ts";
import { AdminError } from "./admin-error.ts";

/** Rows of a report or a page, which is built and sent at once: about 10 MB. */
export const MAX_REPORT_ROWS = 20_000;
/** Concurrent reports of all organizations. */
const MAX_RUNNING = 4;
/** Waiting reports of one caller. */
const MAX_WAITING = 4;
/** Concurrent exports, however slowly they are read. */
const MAX_EXPORTS = 16;
const MAX_EXPORTS_OF_ORGANIZATION = 2;

export interface ReportCaller {
  /** Reports of one lane run one after another. */
  readonly lane: string;
  /** Caller within the lane. */
  readonly caller: string;
}

interface Waiting extends ReportCaller {
  readonly begin: () => void;
}

export class ReportTurns {
  readonly #running = new Set<string>();
  readonly #waiting: Waiting[] = [];
  /** Open exports by organization. */
  readonly #exports = new Map<string, number>();

  /**
   * Runs the work when no other report of its lane runs.
   * @throws AdminError 429 if the caller has too many waiting; errors of the work.
   */
  async run<Result>(of: ReportCaller, work: () => Promise<Result>): Promise<Result> {
    await this.#takeTurn(of);
    try {
      return await work();
    } finally {
      this.#running.delete(of.lane);
      this.#beginNext();
    }
  }

  /**
   * Counts an export as open until the returned function is called.
   * @throws AdminError 429 if there are too many.
   */
  openExport(organizationId: string): () => void {
    const own = this.#exports.get(organizationId) ?? 0;
    const all = [...this.#exports.values()].reduce((sum, count) => sum + count, 0);
    if (own >= MAX_EXPORTS_OF_ORGANIZATION || all >= MAX_EXPORTS) {
      const message = `Too many exports are open: at most ${MAX_EXPORTS_OF_ORGANIZATION} of an organization, ${MAX_EXPORTS} of all. Try again when one has ended.`;
      throw new AdminError("too_many_reports", { message });
    }
    this.#exports.set(organizationId, own + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const remaining = (this.#exports.get(organizationId) ?? 1) - 1;
      if (remaining === 0) this.#exports.delete(organizationId);
      else this.#exports.set(organizationId, remaining);
    };
  }

  async #takeTurn({ lane, caller }: ReportCaller): Promise<void> {
    if (this.#isFree(lane)) {
      this.#running.add(lane);
      return;
    }
    const own = this.#waiting.filter((one) => one.lane === lane && one.caller === caller);
    if (own.length >= MAX_WAITING) throw new AdminError("too_many_reports");
    const { promise, resolve } = createDeferred<void>();
    this.#waiting.push({ lane, caller, begin: () => resolve() });
    await promise;
  }

  /** Starts the longest waiting report of a free lane, before newer callers. */
  #beginNext(): void {
    const next = this.#waiting.findIndex(({ lane }) => this.#isFree(lane));
    const [chosen] = next === -1 ? [] : this.#waiting.splice(next, 1);
    if (chosen === undefined) return;
    this.#running.add(chosen.lane);
    chosen.begin();
  }

  #isFree(lane: string): boolean {
    return this.#running.size < MAX_RUNNING && !this.#running.has(lane);
  }
}
