import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, the longest first, with the seconds that they took on two cores. A file that is not here
 * takes less than each of them; what a figure is off by matters little, as long as no long file is left for the end.
 */
export const LONG_FILES: Readonly<Record<string, number>> = {
  "test/unit/envoy/merge-bootstrap.test.ts": 20,
  "test/store/failover-sentinel.test.ts": 30,
  "test/store/windows-model.test.ts": 20,
  "test/store/spend-model.test.ts": 15,
  "test/store/many-owners.test.ts": 15,
  "test/dashboard/snippets.test.ts": 75,
  "test/dashboard/month.test.ts": 65,
  "test/dashboard/limits.test.ts": 50,
  "test/dashboard/details.test.ts": 50,
  "test/dashboard/pages.test.ts": 40,
  "test/dashboard/oidc.test.ts": 35,
  "test/dashboard/flows.test.ts": 35,
  "test/dashboard/owners.test.ts": 30,
  "test/dashboard/attention.test.ts": 30,
  "test/dashboard/usage.test.ts": 30,
  "test/dashboard/webhooks.test.ts": 30,
  "test/envoy/unread-answers.test.ts": 80,
  "test/envoy/resets.test.ts": 70,
  "test/setup/up.test.ts": 60,
  "test/envoy/render-into.test.ts": 60,
  "test/envoy/endurance.test.ts": 55,
  "test/cli/terminal.test.ts": 55,
  "test/envoy/config-check-envoy.test.ts": 50,
  "test/setup/launcher.test.ts": 50,
  "test/envoy/body-shares.test.ts": 50,
  "test/envoy/held-bodies.test.ts": 45,
  "test/cli/login.test.ts": 45,
  "test/cli/foreign-folder.test.ts": 45,
  "test/cli/doctor-findings.test.ts": 45,
  "test/clients/claude-code.test.ts": 40,
  "test/clients/llama-faults.test.ts": 40,
  "test/envoy/broken-ends.test.ts": 40,
  "test/envoy/metering-load.test.ts": 40,
  "test/cli/usage-verify.test.ts": 35,
  "test/clients/codex.test.ts": 35,
  "test/envoy/uploads.test.ts": 35,
  "test/envoy/concurrency-taken-back.test.ts": 35,
  "test/clients/rate-limit-python.test.ts": 30,
  "test/envoy/tokens/keys-change.test.ts": 30,
  "test/cli/documented-commands.test.ts": 30,
  "test/clients/langchain-python.test.ts": 30,
  "test/clients/anthropic-python-errors.test.ts": 30,
  "test/envoy/reasons.test.ts": 30,
  "test/envoy/local-replies.test.ts": 25,
  "test/envoy/true-waits.test.ts": 80,
  "test/envoy/messages-long.test.ts": 75,
  "test/monitoring/alarms-workers.test.ts": 60,
  "test/envoy/drain.test.ts": 55,
  "test/envoy/workers.test.ts": 45,
  "test/envoy/metering-progress.test.ts": 40,
  "test/envoy/config-reload.test.ts": 35,
  "test/monitoring/alarms-requests.test.ts": 35,
  "test/envoy/redis-outage.test.ts": 30,
  "test/faults/redis.test.ts": 75,
  "test/faults/random-failovers.test.ts": 60,
  "test/faults/workers.test.ts": 60,
  "test/faults/random-recoveries.test.ts": 60,
  "test/faults/shutdown.test.ts": 50,
  "test/faults/clients.test.ts": 45,
  "test/faults/failover.test.ts": 40,
  "test/faults/token-limits.test.ts": 40,
  "test/faults/recovery.test.ts": 30,
  "test/faults/grace.test.ts": 30,
  "test/hostile/hostile.test.ts": 60,
};

/**
 * Within a project the longest files first, so that a run does not end with one of them alone on a core. A fresh clone
 * has no record of durations, and vitest takes the size of a file in its place.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const seconds = (file: TestSpecification): number =>
      LONG_FILES[relative(this.ctx.config.root, file.moduleId)] ?? 0;
    const projectsInOrder = [...new Set(sorted.map(({ project }) => project))];
    return projectsInOrder.flatMap((project) =>
      sorted
        .filter((file) => file.project === project)
        .toSorted((one, other) => seconds(other) - seconds(one)),
    );
  }
}
