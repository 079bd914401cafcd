/** API keys, and what a crash can have left of them. */
import { type Run, throughRun } from "../run.ts";
import type { KeyStore } from "../types/management.ts";
import { keyOperations } from "./api-keys.ts";
import { repair } from "./repair.ts";

export function createKeyStore(run: Run): KeyStore {
  return throughRun<KeyStore>(run, { ...keyOperations, repair });
}
