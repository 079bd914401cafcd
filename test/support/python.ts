/** Runs the scripts under `test/clients/python` with the official Python SDKs. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

/** IGW_PYTHON, else the set-up's own interpreter; null when there is neither. */
export function findPython(): string | null {
  const given = process.env["IGW_PYTHON"];
  if (given !== undefined && given !== "") return given;
  const own = `${REPOSITORY}.tools/python/bin/python`;
  return existsSync(own) ? own : null;
}

/** A script that plays one scenario after the other, see `scenarios.py`: an SDK takes seconds to be imported. */
export interface PythonPlayer {
  /** @throws Error with the scenario's traceback when it fails, or when there is no interpreter. */
  play(scenario: string, input: object): Promise<unknown>;
}

/**
 * One player for all tests of a `describe`, stopped after them.
 * @param older Name of a `requirements-NAME.txt` whose packages are taken before the current ones.
 */
export function withPython(script: string, older: string | null = null): PythonPlayer {
  let child: ChildProcessByStdio<Writable, Readable, null> | null = null;
  let answers: AsyncIterator<string> | null = null;
  beforeAll(async () => {
    const env = { ...process.env, ...(older !== null && { PYTHONPATH: findOlder(older) }) };
    child = spawn(requirePython(), [scriptFile(script)], { env, stdio: ["pipe", "pipe", "inherit"] });
    answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await readAnswer(script, answers);
  });
  afterAll(async () => {
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill();
    await ended;
  });
  return {
    play: async (scenario, input) => {
      if (child === null || answers === null) throw new Error("used before the first test");
      child.stdin.write(`${JSON.stringify({ scenario, input })}\n`);
      return readAnswer(script, answers);
    },
  };
}

async function readAnswer(script: string, answers: AsyncIterator<string>): Promise<unknown> {
  const { value, done } = await answers.next();
  if (done === true) throw new Error(`${script} has ended`);
  const answer = JSON.parse(value) as { readonly result?: unknown; readonly failure?: string };
  if (answer.failure !== undefined) throw new Error(answer.failure);
  return answer.result;
}

function requirePython(): string {
  const python = findPython();
  if (python !== null) return python;
  throw new Error(
    "no Python with the SDKs: set IGW_PYTHON, or make .tools/python from test/clients/python/requirements.txt",
  );
}

function scriptFile(script: string): string {
  return `${REPOSITORY}test/clients/python/${script}`;
}

function findOlder(name: string): string {
  const directory = `${REPOSITORY}.tools/python/older/${name}`;
  if (existsSync(directory)) return directory;
  throw new Error(`${directory} is missing: \`npm test\` puts requirements-${name}.txt there`);
}
