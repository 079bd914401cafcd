/**
 * Reloads the catalog when `gateway.yaml` changes, and on demand (SIGHUP). Only the catalog changes at run time, and
 * only as far as its models are served by upstreams that are running: a new upstream needs a new Envoy configuration.
 * A file with any problem is refused whole and the old catalog stays. Never throws after the start; what goes wrong is
 * reported. Needs neither Redis nor Envoy.
 *
 * The folder is watched, not the file: editors write a new file and rename it into place, and Kubernetes swaps the
 * `..data` symlink that the file is reached through. A slow poll stands behind it, for file systems that report
 * nothing (NFS, some container mounts).
 */
import { watch, type FSWatcher } from "node:fs";
import { dirname, resolve } from "node:path";

import { ConfigError } from "./config-error.ts";
import { parseConfig, readConfigFile, type LoadOptions } from "./load.ts";
import { findRestartFields } from "./restart-fields.ts";
import type { Config } from "./schema.ts";

/** A reload that was accepted. */
export interface CatalogChange {
  /** The running configuration with the new catalog. */
  readonly config: Config;
  /** Fields of the file, by their names there, that differ from the running ones and count after a restart. */
  readonly needsRestart: readonly string[];
}

export interface WatchOptions extends LoadOptions {
  readonly file: string;
  /** What the process was started with. */
  readonly running: Config;
  /** Called with the new catalog before `reload` returns. */
  readonly onChange: (change: CatalogChange) => void;
  /** Called when the file was refused; the old catalog stays. */
  readonly onRefused: (error: ConfigError) => void;
  /** How often the file is read again where nothing was reported; 5,000 when left out. */
  readonly pollIntervalMs?: number;
}

const DEFAULT_POLL_INTERVAL_MS = 5000;
/** Editors and ConfigMap swaps make several events; the file is read when they are over. */
const SETTLE_MS = 50;

/** The watcher of one configuration file. */
export class ConfigWatcher {
  readonly #options: WatchOptions;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | null = null;
  #settling: NodeJS.Timeout | null = null;
  /** What was read last, applied or refused; undefined before the first time. */
  #lastRead: string | null | undefined;
  /** What counts of the last report; null after a refusal. A file that only differs in comments is not reported. */
  #lastReported: string | null;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#lastReported = fingerprint({ config: options.running, needsRestart: [] });
    this.#watcher = this.#watchFolder();
    this.#poll = setInterval(() => this.#check(), options.pollIntervalMs ?? DEFAULT_POLL_INTERVAL_MS);
    this.#poll.unref();
    // The file may have changed between the start of the process and this watch.
    this.#settle();
  }

  /** Reads the file again and reports, changed or not; true when its catalog is now in force. */
  reload(): boolean {
    this.#lastReported = null;
    return this.#apply(this.#read());
  }

  /** Stops watching. */
  close(): void {
    clearInterval(this.#poll);
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#closeFolder();
  }

  #watchFolder(): FSWatcher | null {
    try {
      const watcher = watch(dirname(resolve(this.#options.file)), { persistent: false }, () =>
        this.#settle(),
      );
      watcher.on("error", () => this.#closeFolder());
      return watcher;
    } catch {
      // No watches left (inotify limits) or not supported here: the poll does it.
      return null;
    }
  }

  #closeFolder(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #settle(): void {
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#check(), SETTLE_MS);
    this.#settling.unref();
  }

  #check(): void {
    const text = this.#read();
    if (text !== this.#lastRead) this.#apply(text);
  }

  #apply(text: string | null): boolean {
    this.#lastRead = text;
    try {
      const change = this.#load(text);
      const reported = this.#lastReported;
      this.#lastReported = fingerprint(change);
      if (this.#lastReported !== reported) this.#options.onChange(change);
      return true;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#lastReported = null;
      this.#options.onRefused(error);
      return false;
    }
  }

  /** The text, or null when the file cannot be read. */
  #read(): string | null {
    try {
      return readConfigFile(this.#options.file);
    } catch {
      return null;
    }
  }

  #load(text: string | null): CatalogChange {
    const { file, running, env, secrets } = this.#options;
    const next = parseConfig(text ?? readConfigFile(file), {
      baseDir: dirname(resolve(file)),
      source: file,
      ...(env === undefined ? {} : { env }),
      ...(secrets === undefined ? {} : { secrets }),
    });
    refuseNewUpstreams(next, running, file);
    const config = Object.freeze({ ...running, catalog: next.catalog });
    return { config, needsRestart: findRestartFields(running, next) };
  }
}

function fingerprint({ config, needsRestart }: CatalogChange): string {
  return JSON.stringify([config.catalog, needsRestart]);
}

/** @throws ConfigError for models whose upstream Envoy does not have yet. */
function refuseNewUpstreams(next: Config, running: Config, file: string): void {
  const known = new Set(running.upstreams.map((upstream) => upstream.name));
  const problems = next.catalog.flatMap((model, index) => {
    if (known.has(model.upstream)) return [];
    const message =
      `the upstream \`${model.upstream}\` is not in the running configuration: a new upstream needs a new Envoy ` +
      "configuration and a restart";
    return [{ path: `catalog[${index}].upstream`, message }];
  });
  if (problems.length > 0) throw new ConfigError(file, problems);
}
