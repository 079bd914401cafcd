import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/time/clock.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Store } from "../../shared/stored/store.ts";
import { isRefusedCharge } from "../store/requests/refused-charge.ts";
import { chargeOf, formatSpoolLine, type SpoolEntry } from "./entry.ts";
import { readSpoolLines, removeSpoolFile, type SpoolLine } from "./segment.ts";
import type { SpoolFile } from "./writer.ts";

export interface SpoolReplayOptions {
  readonly dir: string;
  readonly store: Pick<Store, "charge">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"info" | "error">;
}

/** Outcomes of the entries so far. */
export interface SpoolReport {
  readonly replayedEntries: number;
  /** Older than six days. */
  readonly expiredEntries: number;
  /** Contradicting the record in Redis. */
  readonly rejectedEntries: number;
  /** Torn or damaged lines. */
  readonly damagedLines: number;
}

/** How long a charge counts against token rate limits. */
const TOKENS_COUNT_MS = 60_000;
/** A record detects repeats for seven days; a later charge could count twice. */
const MAX_AGE_MS = 6 * 86_400_000;
/** Entries sent at a time: one write, one event of Redis. */
const BATCH = 64;
/** Entries that Redis will not accept, for a person to examine. */
const REPORTED_FILE = "reported.jsonl";

type Counts = { -readonly [Name in keyof SpoolReport]: SpoolReport[Name] };

/** Sends the entries of spool files to Redis, in order. */
export class SpoolReplay {
  readonly #options: SpoolReplayOptions;
  /** Offsets up to which files have been sent. */
  readonly #offsets = new WeakMap<SpoolFile, number>();
  readonly #counts: Counts = { replayedEntries: 0, expiredEntries: 0, rejectedEntries: 0, damagedLines: 0 };

  constructor(options: SpoolReplayOptions) {
    this.#options = options;
  }

  get report(): SpoolReport {
    return { ...this.#counts };
  }

  /**
   * Sends the rest of a file and removes it. Returns false if Redis or the disk failed: retry later; acknowledged
   * entries are not sent again by this process. Never rejects.
   */
  async send(file: SpoolFile): Promise<boolean> {
    try {
      let batch: SpoolLine[] = [];
      for await (const line of readSpoolLines(file.path, this.#offsets.get(file) ?? 0)) {
        batch.push(line);
        if (batch.length < BATCH) continue;
        await this.#sendBatch(file, batch);
        batch = [];
      }
      if (batch.length > 0) await this.#sendBatch(file, batch);
      await removeSpoolFile(file.path);
      this.#options.logger.info({ file: file.path, ...this.#counts }, "spool file sent to redis");
      return true;
    } catch (error) {
      // Another process has taken the file over and sends it.
      return (error as NodeJS.ErrnoException).code === "ENOENT";
    }
  }

  /** Rejects if an entry is not acknowledged; the entries before it are not sent again. */
  async #sendBatch(file: SpoolFile, lines: readonly SpoolLine[]): Promise<void> {
    const sent = await Promise.allSettled(lines.map((line) => this.#sendLine(file, line)));
    for (const [position, result] of sent.entries()) {
      if (result.status === "rejected") throw result.reason;
      this.#offsets.set(file, lines[position]?.endOffset ?? 0);
    }
  }

  async #sendLine(file: SpoolFile, { entry, endOffset }: SpoolLine): Promise<void> {
    const { store, clock, logger } = this.#options;
    if (entry === null) {
      this.#counts.damagedLines += 1;
      logger.error({ file: file.path, end_offset: endOffset }, "damaged spool line skipped");
      return;
    }
    if (clock.nowMs() - entry.atMs > MAX_AGE_MS) {
      // Redis has long dropped the request's entry.
      if (entry.kind === "begun") return;
      this.#counts.expiredEntries += 1;
      return this.#setAside(entry, "a charge in the spool is older than six days and is not sent");
    }
    try {
      const charge = chargeOf(entry);
      // The buckets of token rate limits have refilled since.
      const isLate = clock.nowMs() - entry.atMs > TOKENS_COUNT_MS;
      await store.charge(isLate ? { ...charge, usedTokens: undefined } : charge);
    } catch (error) {
      if (!isRefusedCharge(error)) throw error;
      this.#counts.rejectedEntries += 1;
      await this.#setAside(entry, "a charge in the spool contradicts what is on record and is not sent");
    }
    this.#counts.replayedEntries += 1;
  }

  async #setAside(entry: SpoolEntry, message: string): Promise<void> {
    const { dir, logger } = this.#options;
    await appendFile(join(dir, REPORTED_FILE), formatSpoolLine(entry), { mode: 0o600 });
    const { requestId, organizationId, keyId, totalMicrocents, month } = chargeOf(entry);
    logger.error(
      {
        request_id: requestId,
        organization_id: organizationId,
        key_id: keyId,
        month,
        microcents: String(totalMicrocents),
        reported_in: REPORTED_FILE,
      },
      message,
    );
  }
}
