import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, the longest first, with the seconds that they took on two cores. A file that is not here
 * takes less than each of them; what a figure is off by matters little, as long as no long file is left for the end.
 */
export const LONG_FILES: Readonly<Record<string, number>> = {
  "test/dashboard/month.test.ts": 110,
  "test/dashboard/snippets.test.ts": 100,
  "test/dashboard/pages.test.ts": 90,
  "test/dashboard/flows.test.ts": 50,
  "test/envoy/workers.test.ts": 200,
  "test/envoy/drain.test.ts": 200,
  "test/setup/launcher.test.ts": 170,
  "test/setup/up.test.ts": 160,
  "test/cli/management.test.ts": 150,
  "test/envoy/endurance.test.ts": 140,
  "test/envoy/config-check-envoy.test.ts": 110,
  "test/cli/management-errors.test.ts": 85,
  "test/clients/langchain-python.test.ts": 80,
  "test/envoy/concurrency-limit.test.ts": 75,
  "test/monitoring/alarms-requests.test.ts": 75,
  "test/envoy/sidecar-mtls.test.ts": 70,
  "test/clients/anthropic-python-errors.test.ts": 65,
  "test/envoy/messages-long.test.ts": 65,
  "test/envoy/keys-changes.test.ts": 55,
  "test/envoy/metering-load.test.ts": 55,
  "test/envoy/error-table.test.ts": 55,
  "test/envoy/rate-limit.test.ts": 55,
  "test/envoy/redis-outage.test.ts": 55,
  "test/envoy/transport.test.ts": 50,
  "test/store/failover-sentinel.test.ts": 30,
  "test/faults/shutdown.test.ts": 100,
  "test/faults/workers.test.ts": 100,
  "test/faults/failover.test.ts": 95,
  "test/faults/redis.test.ts": 45,
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
