/**
 * Runs command lines in this process, by what the program itself begins with: for files that are about what commands
 * do. Each process more would take a third of a second of a core. What a process is (its exit, a terminal, what is piped
 * into it, the build) is tested with `runCli`.
 */
import { Readable } from "node:stream";
import { runProgram } from "../../src/operation/cli/run-program.ts";
import { type CliOptions, type CliResult, environmentOfCli } from "./run-cli.ts";

let last: Promise<unknown> = Promise.resolve();

/** One after the other: environment, folder, input and output are the process's. */
export function callCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const called = last.then(() => call(args, options));
  last = called.catch(() => undefined);
  return called;
}

async function call(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const release = standIn(options);
  const [stdout, stderr] = [catchOutput(process.stdout), catchOutput(process.stderr, options.onStderr)];
  try {
    const code = await runProgram([process.execPath, "inference-gateway", ...args]);
    return {
      code: code ?? Number(process.exitCode ?? 0),
      stdout: stdout.text,
      stderr: stderr.text,
      json: () => JSON.parse(stdout.text) as Record<string, unknown>,
    };
  } finally {
    stdout.release();
    stderr.release();
    release();
  }
}

/** Gives this process what a command's own would have; the function takes it back. */
function standIn({ cwd = "/", env, input = "" }: CliOptions): () => void {
  const own = { env: process.env, cwd: process.cwd(), exitCode: process.exitCode };
  const ownInput = Object.getOwnPropertyDescriptor(process, "stdin") ?? {};
  process.env = environmentOfCli(env);
  process.chdir(cwd);
  process.exitCode = undefined;
  Object.defineProperty(process, "stdin", { value: Readable.from([input]), configurable: true });
  return () => {
    process.env = own.env;
    process.chdir(own.cwd);
    process.exitCode = own.exitCode;
    Object.defineProperty(process, "stdin", ownInput);
  };
}

/** What is written to a stream, in place of writing it. */
function catchOutput(
  stream: NodeJS.WriteStream,
  onText: (text: string) => void = () => undefined,
): { readonly text: string; release: () => void } {
  const write = stream.write.bind(stream);
  const chunks: Buffer[] = [];
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string));
    onText(chunk.toString());
    const written = rest.at(-1);
    if (typeof written === "function") process.nextTick(written);
    return true;
  };
  return {
    get text() {
      return Buffer.concat(chunks).toString("utf8");
    },
    release: () => {
      stream.write = write;
    },
  };
}
