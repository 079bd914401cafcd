import type { CrossProblem } from "./check-names.ts";
import { itemsOf, numberOf, valueAt } from "./raw-values.ts";

/** Reports models with `affinity: session` whose upstream cannot keep sessions on a server; see ../affinity.ts. */
export function checkAffinity(file: unknown): CrossProblem[] {
  const upstreams = new Map(itemsOf(valueAt(file, "upstreams")).map((one) => [valueAt(one, "name"), one]));
  return itemsOf(valueAt(file, "catalog")).flatMap((model, index): CrossProblem[] => {
    if (valueAt(model, "affinity") !== "session") return [];
    const name = valueAt(model, "upstream");
    const obstacle = findObstacle(upstreams.get(name));
    if (obstacle === null) return [];
    const message = `expected \`off\`: sessions can't be kept on a server of \`${String(name)}\`, ${obstacle}`;
    return [{ path: ["catalog", index, "affinity"], message }];
  });
}

function findObstacle(upstream: unknown): string | null {
  if (valueAt(upstream, "endpoint_picker") !== undefined) return "whose `endpoint_picker` chooses servers";
  if (valueAt(upstream, "slow_start_seconds") !== undefined) return "which has `slow_start_seconds`";
  const endpoints = itemsOf(valueAt(upstream, "endpoints"));
  const hasPriorities = endpoints.some((endpoint) => numberOf(valueAt(endpoint, "priority"), 0) > 0);
  return hasPriorities ? "whose `endpoints` have several priorities" : null;
}
