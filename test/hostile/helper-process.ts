/** Programs beside the test, in TypeScript as they stand: what they do must not hold up the clients whose time is taken. */
import { type ChildProcess, fork } from "node:child_process";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";

interface Called {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

interface Answered {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

export interface HelperProcess {
  /** Calls what the program has under this name. @throws Error with the program's own words. */
  call<T>(name: string, argument?: unknown): Promise<T>;
  stop(): void;
}

/** Hostile clients have processors of their own elsewhere; here they take those of the gateway. */
export const BEHIND_OTHERS = 5;

/** Starts a file of this folder that calls `serveCalls`, with a share of the processor by this `nice`. */
export function startHelper(file: string, nice = 0): HelperProcess {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
    execArgv: ["--import", import.meta.resolve("tsx")],
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  if (child.pid !== undefined && nice > 0) setPriority(child.pid, nice);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const failAll = (code: unknown): void => {
    for (const each of waiting.values()) each.reject(new Error(`${file} has ended: ${String(code)}`));
    waiting.clear();
  };
  child.on("exit", failAll);
  child.on("error", failAll);
  child.on("message", ({ id, value, error }: Answered) => {
    const caller = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) caller?.resolve(value);
    else caller?.reject(new Error(`${file}: ${error}`));
  });
  return {
    call: (name, argument) => call(child, waiting, name, argument),
    stop: () => void child.kill("SIGKILL"),
  };
}

let lastId = 0;

function call<T>(
  child: ChildProcess,
  waiting: Map<number, { resolve(value: unknown): void; reject(error: Error): void }>,
  name: string,
  argument: unknown,
): Promise<T> {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve: (value) => resolve(value as T), reject });
    child.send({ id, name, argument } satisfies Called);
  });
}

/** In the program: answers the calls of whoever started it, and ends with it. */
export function serveCalls(functions: Readonly<Record<string, (argument: never) => unknown>>): void {
  process.on("disconnect", () => process.exit(0));
  process.on("message", ({ id, name, argument }: Called) => {
    const run = async (): Promise<unknown> => functions[name]?.(argument as never);
    run()
      .then((value): Answered => ({ id, value }))
      .catch((error: unknown): Answered => ({
        id,
        error: error instanceof Error ? (error.stack ?? "") : String(error),
      }))
      .then((answered) => process.send?.(answered))
      .catch(() => process.exit(1));
  });
}
