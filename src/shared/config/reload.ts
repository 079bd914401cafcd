/**
 * Reloads `gateway.yaml` when it changes, and on demand (SIGHUP); only in the supervisor, so that all
 * processes of a host have the same catalog. Only the catalog changes at run time, and only for models whose
 * upstreams Envoy was given when the supervisor started. A file with any problem is rejected as a whole and
 * the old catalog stays. Never throws after the start; problems are reported. Needs neither Redis nor Envoy.
 */
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import type { ConfigState } from "./reload/config-state.ts";
import { findRestartFields } from "./reload/restart-fields.ts";
import type { Config } from "./schema.ts";
import { watchFiles } from "./reload/watch-files.ts";

export interface ReloaderOptions {
  readonly file: string;
  /**
   * Loads the file.
   * @throws ConfigError
   */
  readonly load: () => Config;
  /** Configuration with which the processes were started. */
  readonly running: Config;
  /**
   * Fingerprint of the file from before it was read for `running`: if it has not changed since, it is not
   * read again at the start.
   */
  readonly runningFingerprint: string | null;
  readonly nowMs: () => number;
  /** Called when the file's catalog is in force. */
  readonly onAccepted: (catalog: Config["catalog"], state: ConfigState) => void;
  /** Called when the file was rejected; the old catalog stays. */
  readonly onRefused: (error: ConfigError, state: ConfigState) => void;
  /** Polling interval. */
  readonly pollMs?: number;
}

export class ConfigReloader {
  readonly #options: ReloaderOptions;
  #watcher: { close: () => void } | null = null;
  /**
   * Relevant content of the last report; null after a rejection. A file that only differs in comments is not
   * reported.
   */
  #lastReported: string | null;
  #state: ConfigState;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#state = { catalogSince: this.#now(), refused: null, waitingForRestart: [] };
    this.#lastReported = fingerprint(options.running.catalog, []);
  }

  /** Starts watching. Changes since the file was read for `running` are included. */
  start(): void {
    const { file, pollMs, runningFingerprint: since } = this.#options;
    this.#watcher = watchFiles([file], () => this.#apply(), { pollMs, since });
  }

  get state(): ConfigState {
    return this.#state;
  }

  /** Reads the file again and reports, even if unchanged. */
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

/** Returns problems of models whose upstream Envoy does not have yet. */
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
