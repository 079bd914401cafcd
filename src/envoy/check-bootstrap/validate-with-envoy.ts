import { execFile } from "node:child_process";

/** Result of `envoy --mode validate`. */
export type Validation =
  | { readonly outcome: "accepted" }
  | { readonly outcome: "refused"; readonly message: string };

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAX_MESSAGE_CHARACTERS = 2_000;

/**
 * Runs Envoy's own validation of a bootstrap. It opens the files that the bootstrap names, and listens on
 * nothing. Never rejects.
 */
export function validateWithEnvoy(program: string, file: string): Promise<Validation> {
  const args = ["--mode", "validate", "-c", file, "--log-level", "error"];
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES },
      (error, _stdout, stderr) => {
        if (error === null) resolve({ outcome: "accepted" });
        else resolve({ outcome: "refused", message: readReason(stderr) ?? error.message });
      },
    );
  });
}

/** Returns the last line that does not start with a log date: "error initializing configuration …". */
function readReason(stderr: string): string | null {
  const lines = stderr
    .split("\n")
    .map((line) => line.replace(/^\[[^\]]+\](\[[^\]]+\])* (\[[^\]]+\] )?/, "").trim());
  const text = lines.filter((line) => line !== "" && line !== "exiting").join(" ");
  return text === "" ? null : text.slice(0, MAX_MESSAGE_CHARACTERS);
}
