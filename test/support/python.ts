/** Runs the scripts under `test/clients/python` with the official Python SDKs. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

/** IGW_PYTHON, else the set-up's own interpreter; null when there is neither. */
export function findPython(): string | null {
  const given = process.env["IGW_PYTHON"];
  if (given !== undefined && given !== "") return given;
  const own = `${REPOSITORY}.tools/python/bin/python`;
  return existsSync(own) ? own : null;
}

/**
 * Runs `script SCENARIO` with `input` as JSON on its command line and gives the JSON that it prints.
 * @throws Error with the script's stderr when it fails; or when there is no interpreter.
 */
export async function runPython(script: string, scenario: string, input: object): Promise<unknown> {
  const python = findPython();
  if (python === null) {
    throw new Error(
      "no Python with the SDKs: set IGW_PYTHON, or make .tools/python from test/clients/python/requirements.txt",
    );
  }
  const file = `${REPOSITORY}test/clients/python/${script}`;
  const { stdout } = await run(python, [file, scenario, JSON.stringify(input)], {
    timeout: 90_000,
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout) as unknown;
}
