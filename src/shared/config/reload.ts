/**
 * Reads `gateway.yaml` again when it changes, and on demand (SIGHUP): in the supervisor alone, so that every process of
 * a host has the same catalog. Only the catalog changes at run time, and only as far as its models are served by
 * upstreams that Envoy was given when the supervisor started. A file with any problem is refused whole and the old
 * catalog stays. Never throws after the start; what goes wrong is reported. Needs neither Redis nor Envoy.
 */
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import type { ConfigState } from "./reload/config-state.ts";
import { findRestartFields } from "./reload/restart-fields.ts";
import type { Config } from "./schema.ts";
import { watchFiles } from "./reload/watch-files.ts";

export interface ReloaderOptions {
  readonly file: string;
  /**
   * Reads the file.
   * @throws ConfigError
   */
  readonly load: () => Config;
  /** What the file said when the processes were started. */
  readonly running: Config;
  /** Of the file, from before it was read for `running`: unless it has changed since, it is not read at the start again. */
  readonly runningFingerprint: string | null;
  readonly nowMs: () => number;
  /** The file's catalog is in force from now on. */
  readonly onAccepted: (catalog: Config["catalog"], state: ConfigState) => void;
  /** The file was refused; the old catalog stays. */
  readonly onRefused: (error: ConfigError, state: ConfigState) => void;
  /** How often the file is looked at. */
  readonly pollMs?: number;
}

export class ConfigReloader {
  readonly #options: ReloaderOptions;
  #watcher: { close: () => void } | null = null;
  /** What counts of the last report; null after a refusal. A file that only differs in comments is not reported. */
  #lastReported: string | null;
  #state: ConfigState;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#state = { catalogSince: this.#now(), refused: null, waitingForRestart: [] };
    this.#lastReported = fingerprint(options.running.catalog, []);
  }

  /** From now on; what has changed since the file was read for `running` counts, too. */
  start(): void {
    const { file, pollMs, runningFingerprint: since } = this.#options;
    this.#watcher = watchFiles([file], () => this.#apply(), { pollMs, since });
  }

  get state(): ConfigState {
    return this.#state;
  }

  /** Reads the file again and reports, changed or not. */
  reload(): void {
    this.#lastReported = null;
    this.#apply();
  }

  /** Stops watching. */
  close(): void {
    this.#watcher?.close();
  }

  #apply(): void {
    try {
      this.#take(this.#options.load());
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#refuse(error);
    }
  }

  #take(next: Config): void {
    const { running, file } = this.#options;
    const waitingForRestart = findRestartFields(running, next);
    const problems = findUnknownUpstreams(next, running);
    if (problems.length > 0) {
      this.#state = { ...this.#state, waitingForRestart };
      throw new ConfigError(file, problems);
    }
    const reported = this.#lastReported;
    this.#lastReported = fingerprint(next.catalog, waitingForRestart);
    if (this.#lastReported === reported) return;
    this.#state = { catalogSince: this.#now(), refused: null, waitingForRestart };
    this.#options.onAccepted(next.catalog, this.#state);
  }

  #refuse(error: ConfigError): void {
    this.#lastReported = null;
    this.#state = { ...this.#state, refused: { since: this.#now(), problems: error.problems } };
    this.#options.onRefused(error, this.#state);
  }

  #now(): string {
    return new Date(this.#options.nowMs()).toISOString();
  }
}

function fingerprint(catalog: Config["catalog"], waitingForRestart: readonly string[]): string {
  return JSON.stringify([catalog, waitingForRestart]);
}

/** Models whose upstream Envoy does not have yet. */
function findUnknownUpstreams(next: Config, running: Config): ConfigProblem[] {
  const known = new Set(running.upstreams.map((upstream) => upstream.name));
  return next.catalog.flatMap((model, index) => {
    if (known.has(model.upstream)) return [];
    const message =
      `the upstream \`${model.upstream}\` is not in the running configuration: a new upstream needs a new Envoy ` +
      "configuration and a restart";
    return [{ path: `catalog[${index}].upstream`, message }];
  });
}
