/** `GET …/request-counts`: recent requests over time, and the values that they can be filtered by. */
import { clientOutcomeOf } from "../../../data-path/limits/reports/client-outcome.ts";
import { timeOfId } from "../../../data-path/store/ids.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { RecentRequest } from "../../../shared/stored/reporting.ts";
import { scrub } from "../../../shared/text/scrub.ts";
import { readTags } from "../../../shared/usage/tags.ts";
import { requestCounts, requestFilter } from "../schemas/requests.ts";
import { isFailed } from "./health.ts";
import { readFilterNames, readUsageNames } from "./names.ts";
import { createRequestFilter } from "./requests.ts";
import { defineOrganizationRoute } from "./route.ts";
import { callerOf } from "./usage.ts";

/** More than the lists of an organization's requests can hold. */
const MAX_EXAMINED = 20_000;

export const countRequestsRoute = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/request-counts",
  operationId: "countRequests",
  summary: "Count recent requests over time and by filter.",
  query: requestFilter,
  answers: { 200: requestCounts },
  handleInOrganization: async ({ organization, query, principal }, { store, reports }) => {
    const filter = createRequestFilter(query);
    const found: RecentRequest[] = [];
    const matches = (request: RecentRequest): boolean => {
      if (filter === null || filter.matches(request)) found.push(request);
      // Lists nothing, so that the scan continues.
      return false;
    };
    const all = { fromMs: null, ...filter, maxExamined: MAX_EXAMINED, matches };
    await reports.run(callerOf(organization.id, principal), () =>
      store.listRequests(organization.id, { limit: 1, after: null }, all),
    );
    const namesOf = await readUsageNames(store, organization.id, found);
    const filterNames = await readFilterNames(store, organization.id, query, principal);
    const nowMs = await store.timeMs();
    return {
      status: 200,
      body: {
        ...countOverTime(found, query, nowMs),
        values: countValues(found, namesOf),
        filter_names: filterNames,
      },
    };
  },
});

const STEPS_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];
const WEEK_SECONDS = 604_800;
const MOST_STEPS = 60;

function countOverTime(
  requests: readonly RecentRequest[],
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
  nowMs: number,
) {
  const timesMs = requests.map(({ requestId }) => timeOfId(requestId) ?? 0);
  const endMs = Math.min(to ?? nowMs, nowMs);
  const oldestMs = timesMs.reduce((least, ms) => Math.min(least, ms), endMs);
  const beginMs = Math.max(Math.min(from ?? oldestMs, endMs), endMs - MOST_STEPS * WEEK_SECONDS * 1000);
  const seconds = (endMs - beginMs) / 1000;
  const step = STEPS_SECONDS.find((one) => seconds / one <= MOST_STEPS) ?? WEEK_SECONDS;
  const stepMs = step * 1000;
  const first = Math.floor(beginMs / stepMs);
  const data = Array.from({ length: Math.ceil(endMs / stepMs) - first }, (_, index) => ({
    at: new Date((first + index) * stepMs).toISOString(),
    succeeded: 0,
    rejected: 0,
    failed: 0,
  }));
  for (const [index, request] of requests.entries()) {
    const column = data[Math.floor((timesMs[index] ?? 0) / stepMs) - first];
    if (column !== undefined) column[endOf(request)] += 1;
  }
  return {
    from: new Date(beginMs).toISOString(),
    to: new Date(endMs).toISOString(),
    step_seconds: step,
    data,
  };
}

function endOf(request: RecentRequest): "succeeded" | "rejected" | "failed" {
  const outcome = clientOutcomeOf(request);
  if (outcome.status === null || isFailed(outcome) === true) return "failed";
  return outcome.status >= 400 ? "rejected" : "succeeded";
}

type NamesOf = Awaited<ReturnType<typeof readUsageNames>>;
type Value = readonly [value: string | null, name?: string | null];

/** Values of a request by the names of the filters. */
const VALUES = {
  key_id: (request, namesOf) => [[request.keyId, namesOf(request).keyName]],
  user_id: (request, namesOf) => [[parseOwnerIds(request.owners).userId, namesOf(request).userName]],
  group_id: (request, namesOf) => [[parseOwnerIds(request.owners).groupId, namesOf(request).groupName]],
  model: ({ model }) => [[model === null ? null : scrub(model)]],
  upstream: ({ trace }) => [[trace.upstream?.name ?? null]],
  status: (request) => {
    const { status, errorCode } = clientOutcomeOf(request);
    return [[errorCode ?? (status === null ? null : String(status))]];
  },
  tag: ({ tags }) => Object.entries(readTags(tags)).map(([name, value]) => [`${name}=${value}`]),
  session: ({ session }) => [[session]],
} as const satisfies Record<string, (request: RecentRequest, namesOf: NamesOf) => readonly Value[]>;

const MOST_VALUES = 100;

function countValues(requests: readonly RecentRequest[], namesOf: NamesOf) {
  const counted = Object.entries(VALUES).map(([field, valuesOf]) => {
    const byValue = new Map<string, { value: string; name: string | null; requests: number }>();
    for (const request of requests) {
      for (const [value, name = null] of valuesOf(request, namesOf) as readonly Value[]) {
        if (value === null) continue;
        const known = byValue.get(value);
        if (known === undefined) byValue.set(value, { value, name, requests: 1 });
        else known.requests += 1;
      }
    }
    const ranked = [...byValue.values()].toSorted((left, right) => right.requests - left.requests);
    return [field, ranked.slice(0, MOST_VALUES)] as const;
  });
  return Object.fromEntries(counted);
}
