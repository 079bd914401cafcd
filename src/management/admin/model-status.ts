/**
 * Overall state of the models for people who aren't signed in, from the host's metrics. It reads them at its own
 * pace, so visitors cost nothing, and it reports counts only: names of models may be confidential.
 */
import { parseSamples } from "../../shared/telemetry/samples.ts";
import { isFailed } from "./api/health.ts";

export interface ModelStatusOptions {
  readonly render: () => Promise<{ readonly text: string }>;
  /** Returns the ids of the catalog's models. */
  readonly listModels: () => readonly string[];
}

export interface ModelCounts {
  readonly failing: number;
  readonly models: number;
}

const INTERVAL_MS = 30_000;
/** Minutes in which a model is judged by its requests. */
export const JUDGED_MINUTES = 5;
/** A model with fewer requests is not judged: one failure of an idle model says little. */
export const JUDGED_REQUESTS = 3;
const MAX_READINGS = (JUDGED_MINUTES * 60_000) / INTERVAL_MS + 1;

interface Tally {
  all: number;
  failed: number;
}

export class ModelStatus {
  readonly #options: ModelStatusOptions;
  /** Counts by model since the start, oldest first. */
  #readings: ReadonlyMap<string, Tally>[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ModelStatusOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.read(), INTERVAL_MS).unref();
    void this.read();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Reads the metrics. Never rejects: without them the state is unknown. */
  async read(): Promise<void> {
    try {
      const { text } = await this.#options.render();
      this.#readings = [...this.#readings, tallyByModel(text)].slice(-MAX_READINGS);
    } catch {
      this.#readings = [];
    }
  }

  /** Counts the models with enough requests of which at least half failed; null: unknown. */
  get counts(): ModelCounts | null {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)];
    if (first === undefined || last === undefined || first === last) return null;
    const models = this.#options.listModels();
    const failing = models.filter((model) => {
      const [before, now] = [first.get(model) ?? NONE, last.get(model) ?? NONE];
      const failed = now.failed - before.failed;
      const all = now.all - before.all;
      return all >= JUDGED_REQUESTS && failed * 2 >= all;
    });
    return { failing: failing.length, models: models.length };
  }
}

const NONE: Tally = { all: 0, failed: 0 };

function tallyByModel(metrics: string): ReadonlyMap<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const { labels, value } of parseSamples(metrics, "inference_gateway_requests_total")) {
    const { model = "", status, code = "" } = labels;
    const failed = isFailed({ status: Number(status), errorCode: code === "" ? null : code });
    if (failed === null) continue;
    const { all, failed: failures } = tallies.get(model) ?? NONE;
    tallies.set(model, { all: all + value, failed: failures + (failed ? value : 0) });
  }
  return tallies;
}
