import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, the longest first, with the seconds that they took on two cores. A file that is not here
 * takes less than each of them; what a figure is off by matters little, as long as no long file is left for the end.
 */
export const LONG_FILES: Readonly<Record<string, number>> = {
  "test/unit/envoy/merge-bootstrap.test.ts": 15,
  "test/unit/translation/many-values.test.ts": 15,
  "test/unit/translation/messages-to-chat/stream/bounds.test.ts": 15,
  "test/store/failover-sentinel.test.ts": 30,
  "test/envoy/body-shares.test.ts": 60,
  "test/cli/documented-commands.test.ts": 100,
  "test/envoy/uploads.test.ts": 75,
  "test/cli/doctor-findings.test.ts": 80,
  "test/setup/up.test.ts": 45,
  "test/envoy/config-check-envoy.test.ts": 70,
  "test/setup/launcher.test.ts": 55,
  "test/envoy/tokens/keys-change.test.ts": 55,
  "test/clients/langchain-python.test.ts": 55,
  "test/cli/terminal.test.ts": 40,
  "test/envoy/held-bodies.test.ts": 55,
  "test/envoy/broken-ends.test.ts": 55,
  "test/clients/claude-code.test.ts": 55,
  "test/clients/rate-limit-python.test.ts": 50,
  "test/envoy/unread-answers.test.ts": 30,
  "test/envoy/transport.test.ts": 50,
  "test/clients/vercel-ai.test.ts": 45,
  "test/cli/usage-verify.test.ts": 45,
  "test/setup/bench-against.test.ts": 40,
  "test/clients/codex.test.ts": 40,
  "test/envoy/resets.test.ts": 40,
  "test/envoy/render-into.test.ts": 40,
  "test/clients/llama-faults.test.ts": 35,
  "test/envoy/metering-load.test.ts": 35,
  "test/envoy/rate-headers-broken.test.ts": 35,
  "test/clients/clients-page.test.ts": 35,
  "test/envoy/keys.test.ts": 30,
  "test/envoy/local-replies.test.ts": 30,
  "test/envoy/large-json.test.ts": 20,
  "test/dashboard/snippets.test.ts": 105,
  "test/dashboard/month.test.ts": 95,
  "test/dashboard/pages.test.ts": 80,
  "test/dashboard/limits.test.ts": 60,
  "test/dashboard/details.test.ts": 55,
  "test/dashboard/flows.test.ts": 50,
  "test/dashboard/oidc.test.ts": 40,
  "test/dashboard/owners.test.ts": 35,
  "test/dashboard/usage.test.ts": 35,
  "test/dashboard/alert-flows.test.ts": 30,
  "test/dashboard/webhooks.test.ts": 30,
  "test/monitoring/alarms-workers.test.ts": 85,
  "test/envoy/forecast-alert.test.ts": 20,
  "test/envoy/true-waits.test.ts": 85,
  "test/envoy/messages-long.test.ts": 80,
  "test/envoy/drain.test.ts": 80,
  "test/envoy/metering-progress.test.ts": 65,
  "test/monitoring/alarms-redis.test.ts": 65,
  "test/envoy/workers.test.ts": 60,
  "test/envoy/redis-outage.test.ts": 50,
  "test/monitoring/alarms-requests.test.ts": 45,
  "test/envoy/config-reload.test.ts": 30,
  "test/faults/redis.test.ts": 170,
  "test/faults/random-failovers.test.ts": 115,
  "test/faults/shutdown.test.ts": 110,
  "test/faults/clients.test.ts": 95,
  "test/faults/failover.test.ts": 90,
  "test/faults/workers.test.ts": 90,
  "test/faults/token-limits.test.ts": 75,
  "test/faults/random-recoveries.test.ts": 55,
  "test/faults/recovery.test.ts": 45,
  "test/faults/grace.test.ts": 35,
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
