/** Runs tasks, so many at the same time, the others in the order in which they came. */
export class Lane {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Resolves or rejects as the task does. */
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
