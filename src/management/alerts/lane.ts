/** Runs a bounded number of tasks concurrently, and others in order of arrival. */
export class Lane {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Settles as the task does. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#width) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    this.#running += 1;
    try {
      return await task();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}
