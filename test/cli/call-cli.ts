/**
 * Runs command lines in this process, by what the program itself begins with: for files that are about what commands
 * do. Each process more would take a third of a second of a core. What a process is (its exit, a terminal, what is piped
 * into it, the build) is tested with `runCli`.
 */
import { runProgram } from "../../src/cli/run-program.ts";
import { type CliResult, environmentOfCli } from "./run-cli.ts";

let last: Promise<unknown> = Promise.resolve();

/** One after the other: environment and output are the process's. */
export function callCli(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<CliResult> {
  const called = last.then(() => call(args, environmentOfCli(options.env)));
  last = called.catch(() => undefined);
  return called;
}

async function call(args: readonly string[], env: NodeJS.ProcessEnv): Promise<CliResult> {
  const own = process.env;
  const [stdout, stderr] = [catchOutput(process.stdout), catchOutput(process.stderr)];
  process.env = env;
  try {
    const code = await runProgram([process.execPath, "inference-gateway", ...args]);
    return {
      code: code ?? 0,
      stdout: stdout.text,
      stderr: stderr.text,
      json: () => JSON.parse(stdout.text) as Record<string, unknown>,
    };
  } finally {
    process.env = own;
    stdout.release();
    stderr.release();
  }
}

/** What is written to a stream, in place of writing it. */
function catchOutput(stream: NodeJS.WriteStream): { readonly text: string; release: () => void } {
  const write = stream.write.bind(stream);
  const chunks: Buffer[] = [];
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string));
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
