/** Checks that the running gateway uses the current file. */
import { formatProblem } from "../../shared/config/config-error.ts";
import { readConfigState } from "../../shared/config/reload/config-state.ts";
import type { Config } from "../../shared/config/schema.ts";
import { type DoctorFinding, found, ok, skipped } from "./finding.ts";

export async function checkConfiguration({ dataDir }: Config): Promise<DoctorFinding[]> {
  const check = "configuration.running";
  const state = readConfigState(dataDir);
  if (state === null) return [skipped(check, "No running gateway uses this configuration.")];
  const { catalogSince, refused, waitingForRestart } = state;
  const refusals = (refused?.problems ?? []).map((problem) =>
    found("configuration_refused", check, {
      message: `The running gateway rejected the file and keeps its catalog of ${catalogSince}: ${formatProblem(problem)}.`,
      since: refused === null ? null : new Date(refused.since),
    }),
  );
  const waits = waitingForRestart.map((field) =>
    found("configuration_waits", check, {
      message: `\`${field}\` has changed and takes effect after a restart.`,
    }),
  );
  if (refusals.length + waits.length > 0) return [...refusals, ...waits];
  return [ok(check, `The running gateway has the file's catalog since ${catalogSince}.`)];
}
