/**
 * Appends lines to spool files. Lines that arrive while the disk is busy are written together, with one sync. A file
 * is never appended to after a failed write or a restart, so only its last line can be torn.
 */
import type { FileHandle } from "node:fs/promises";
import { createSpoolFile } from "./segment.ts";

export interface SpoolFile {
  readonly path: string;
  bytes: number;
}

export interface SpoolWriterOptions {
  /** Returns the path of the next file; called once per file. */
  readonly nextPath: () => string;
  /** Called with each new file, which is still empty. */
  readonly onFile: (file: SpoolFile) => void;
}

/** Size at which the next file begins, so that sent entries can be removed in pieces of this size. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Limit for lines that wait for the disk: about twenty thousand lines. */
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

  /** Resolves once the line is on disk; rejects if that is not certain. */
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

  /** Closes the current file; the next line begins a new one. */
  async seal(): Promise<void> {
    this.#work = this.#work.then(() => this.#close());
    await this.#work;
  }

  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#work = this.#work.then(() => this.#writeWaiting());
  }

  /** Never rejects: errors go to the callers of `append`. */
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
    const path = this.#options.nextPath();
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
      // Ignored: the preceding sync has decided whether the lines are on disk.
    }
  }
}
