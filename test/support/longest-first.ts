import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, the longest first, with the seconds that they took on two cores. A file that is not here
 * takes less than each of them; what a figure is off by matters little, as long as no long file is left for the end.
 */
export const LONG_FILES: Readonly<Record<string, number>> = {
  "test/store/failover-sentinel.test.ts": 35,
  "test/admin/many-connections.test.ts": 25,
  "test/envoy/uploads.test.ts": 50,
  "test/envoy/tokens/keys-change.test.ts": 45,
  "test/clients/vercel-ai.test.ts": 40,
  "test/envoy/held-bodies.test.ts": 35,
  "test/envoy/local-replies.test.ts": 35,
  "test/cli/doctor-findings.test.ts": 30,
  "test/clients/codex.test.ts": 30,
  "test/clients/langchain-python.test.ts": 30,
  "test/envoy/body-shares.test.ts": 30,
  "test/envoy/broken-ends.test.ts": 30,
  "test/clients/claude-code.test.ts": 25,
  "test/clients/langchain-node.test.ts": 25,
  "test/clients/rate-limit-python.test.ts": 25,
  "test/envoy/admission-ahead.test.ts": 25,
  "test/envoy/rate-headers-broken.test.ts": 25,
  "test/cli/documented-commands.test.ts": 20,
  "test/cli/terminal.test.ts": 20,
  "test/cli/usage-verify.test.ts": 20,
  "test/clients/clients-page.test.ts": 20,
  "test/setup/launcher.test.ts": 20,
  "test/setup/up.test.ts": 20,
  "test/dashboard/pictures.test.ts": 90,
  "test/dashboard/flows.test.ts": 40,
  "test/dashboard/pages.test.ts": 40,
  "test/dashboard/limits.test.ts": 35,
  "test/dashboard/screens.test.ts": 35,
  "test/dashboard/details.test.ts": 30,
  "test/dashboard/many.test.ts": 30,
  "test/dashboard/oidc.test.ts": 30,
  "test/dashboard/requests.test.ts": 30,
  "test/dashboard/snippets.test.ts": 30,
  "test/dashboard/owners.test.ts": 25,
  "test/dashboard/things.test.ts": 25,
  "test/dashboard/usage.test.ts": 25,
  "test/monitoring/alarms-workers.test.ts": 95,
  "test/envoy/messages-long.test.ts": 85,
  "test/envoy/true-waits.test.ts": 80,
  "test/envoy/redis-outage.test.ts": 60,
  "test/envoy/drain.test.ts": 50,
  "test/envoy/metering-progress.test.ts": 45,
  "test/envoy/workers.test.ts": 45,
  "test/monitoring/alarms-redis.test.ts": 45,
  "test/envoy/admin-process.test.ts": 40,
  "test/monitoring/alarms-requests.test.ts": 40,
  "test/envoy/config-reload.test.ts": 30,
  "test/envoy/forecast-alert.test.ts": 20,
  "test/faults/shutdown.test.ts": 135,
  "test/faults/redis.test.ts": 100,
  "test/faults/random-failovers.test.ts": 85,
  "test/faults/workers.test.ts": 85,
  "test/faults/random-recoveries.test.ts": 80,
  "test/faults/clients.test.ts": 65,
  "test/faults/recovery.test.ts": 60,
  "test/faults/grace.test.ts": 40,
  "test/faults/token-limits.test.ts": 40,
  "test/faults/failover.test.ts": 30,
  "test/clients/llama-faults.test.ts": 25,
  "test/hostile/hostile.test.ts": 60,
};

/**
 * Sorts the longest files first within a project, and of projects that run at once the one with the longest file first, so
 * that a run does not end with one file alone on a core. vitest keeps a process only while the next file is of the same
 * project. A fresh clone has no record of durations, and vitest takes the size of a file in its place.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const seconds = (file: TestSpecification | undefined): number =>
      LONG_FILES[relative(this.ctx.config.root, file?.moduleId ?? "")] ?? 0;
    const longestFirst = [...new Set(sorted.map(({ project }) => project))].map((project) =>
      sorted
        .filter((file) => file.project === project)
        .toSorted((one, other) => seconds(other) - seconds(one)),
    );
    return longestFirst.toSorted(([one], [other]) => seconds(other) - seconds(one)).flat();
  }
}
