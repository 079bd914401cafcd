/**
 * Appends lines to spool files: what is appended while the disk is busy goes out together, with one sync. A file is
 * never appended to again after a failed write or a restart, so that only the last line of a file can be torn.
 */
import type { FileHandle } from "node:fs/promises";
import { createSpoolFile } from "./segment.ts";

/** A file of the spool. */
export interface SpoolFile {
  readonly path: string;
  bytes: number;
}

export interface SpoolWriterOptions {
  /** The path of the next file; called once for each. */
  readonly nextPath: () => Promise<string>;
  /** A file is there, still empty. */
  readonly onFile: (file: SpoolFile) => void;
}

/** A file is replaced by the next one from here on, so that what is done with goes in pieces of this size. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Lines that wait for the disk: some twenty thousand. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

interface Waiting {
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SpoolWriter {
  readonly #options: SpoolWriterOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #current: { readonly file: SpoolFile; readonly handle: FileHandle } | null = null;
  #work: Promise<void> = Promise.resolve();
  #isFlushing = false;

  constructor(options: SpoolWriterOptions) {
    this.#options = options;
  }

  /** Bytes that are not on disk yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** The file that is being written. */
  get currentFile(): SpoolFile | null {
    return this.#current?.file ?? null;
  }

  /** Resolves when the line is on disk; rejects when it is not known to be. */
  append(line: string): Promise<void> {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      return Promise.reject(new Error("the disk is too slow for the spool"));
    }
    this.#waitingBytes += bytes.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject });
      this.#flush();
    });
  }

  /** Closes the file that is being written; the next line begins a new one. */
  async seal(): Promise<void> {
    this.#work = this.#work.then(() => this.#close());
    await this.#work;
  }

  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#work = this.#work.then(() => this.#writeWaiting());
  }

  /** Never rejects: who waits is told. */
  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const bytes = Buffer.concat(batch.map((each) => each.bytes));
      try {
        const { file, handle } = (this.#current ??= await this.#openNext());
        await handle.appendFile(bytes);
        await handle.datasync();
        file.bytes += bytes.length;
        if (file.bytes >= MAX_FILE_BYTES) await this.#close();
        for (const each of batch) each.resolve();
      } catch (error) {
        await this.#close();
        for (const each of batch) each.reject(error);
      } finally {
        this.#waitingBytes -= bytes.length;
      }
    }
    this.#isFlushing = false;
  }

  async #openNext(): Promise<{ file: SpoolFile; handle: FileHandle }> {
    const path = await this.#options.nextPath();
    const handle = await createSpoolFile(path);
    const file = { path, bytes: 0 };
    this.#options.onFile(file);
    return { file, handle };
  }

  async #close(): Promise<void> {
    const current = this.#current;
    this.#current = null;
    try {
      await current?.handle.close();
    } catch {
      // Whether its lines are on disk is what the sync before has told.
    }
  }
}
