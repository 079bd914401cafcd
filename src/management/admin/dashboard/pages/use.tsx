/** Use of one key, user, group, model, upstream, tag or session: 30 days, health, last requests, errors. */
import type { Child } from "hono/jsx";
import { dayAt } from "../../../../shared/time/calendar.ts";
import { addDays, type DayRange } from "../../../../shared/time/day-range.ts";
import { AdminError } from "../../admin-error.ts";
import { describeProblems } from "../form.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { FilterProblem } from "../parts/filter-fields.tsx";
import { USE_FILTERS, type UseFilter } from "../parts/inline.tsx";
import { HealthTable } from "../parts/health.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { formatCachedShare, readUsage } from "../usage-range.ts";
import type { UsageView } from "../views.ts";
import { LastRequests, UsageChart } from "./own-use.tsx";

const DAYS = 30;
const SHOWN_REQUESTS = "8";

interface UseOf {
  readonly filter: "key_id" | "user_id" | "group_id" | UseFilter;
  readonly value: string;
}

const HEALTH_BY: Readonly<Partial<Record<UseOf["filter"], string>>> = {
  key_id: "key",
  model: "model",
  upstream: "upstream",
};

/** Reads the health of a key, model or upstream; none of other things. */
async function readHealth(page: OrganizationPageCall, { filter, value }: UseOf, range: DayRange) {
  const by = HEALTH_BY[filter];
  if (by === undefined) return [];
  const { data } = await readUsageOf(page, by, { filter, value }, { ...range, health: "true" });
  return data.flatMap(({ health }) => (health === undefined ? [] : [health]));
}

/** Reads the usage of one thing. Usage has no filter for upstreams: there are few, so this groups by them. */
async function readUsageOf(
  page: OrganizationPageCall,
  groupBy: string,
  { filter, value }: UseOf,
  choice: Readonly<Record<string, string>>,
): Promise<UsageView> {
  if (filter !== "upstream") return readUsage(page, groupBy, { ...choice, [filter]: value });
  const groups = groupBy === filter ? filter : `${groupBy},${filter}`;
  const { top: _, ...all } = choice;
  const usage = await readUsage(page, groups, all);
  return { ...usage, data: usage.data.filter(({ upstream }) => upstream === value) };
}

/** @throws AdminError 400 for a value that cannot be one. */
export async function readUseOf(page: OrganizationPageCall, { filter, value }: UseOf) {
  const { base, organization, nowMs } = page;
  const today = dayAt(nowMs).name;
  const by = filter === "model" ? "key" : "model";
  const range = { from: addDays(today, 1 - DAYS), to: today };
  const [usage, health, requests] = await Promise.all([
    readUsageOf(page, `day,${by}`, { filter, value }, { ...range, top: "10" }),
    readHealth(page, { filter, value }, range),
    page.api("GET /api/organizations/{organization}/requests", {
      query: { [filter]: value, limit: SHOWN_REQUESTS },
    }),
  ]);
  const pathOf = (section: string, more: Readonly<Record<string, string>> = {}) =>
    `${base}/${section}?${new URLSearchParams({ [filter]: value, ...more }).toString()}`;
  return (
    <>
      <UsageChart
        title={`Use in the last ${DAYS} days`}
        currency={organization.currency}
        usage={usage}
        by={by}
      />
      <p class="quiet">Input tokens from prompt caches: {formatCachedShare(usage.data)}</p>
      {health.length === 0 ? null : (
        <Section id="health" title="Health">
          <HealthTable
            label="Health, table"
            subject="requests of"
            rows={health.map((one) => ({
              name: `the last ${DAYS} days`,
              link: pathOf("requests"),
              health: one,
            }))}
          />
        </Section>
      )}
      <LastRequests path={base} requests={requests.body.data} />
      <p>
        <a href={filter === "upstream" ? `${base}/usage?by=upstream` : pathOf("usage", range)}>Usage</a> ·{" "}
        <a href={pathOf("requests")}>All requests</a> ·{" "}
        <a href={pathOf("requests", { status: "4xx" })}>Rejected requests</a> ·{" "}
        <a href={pathOf("requests", { status: "5xx" })}>Server errors</a>
      </p>
    </>
  );
}

async function showUse(page: OrganizationPageCall): Promise<PageAnswer> {
  const filter = (Object.keys(USE_FILTERS) as UseFilter[]).find((one) => page.query.has(one)) ?? "model";
  const value = page.query.get(filter) ?? "";
  const title = `${USE_FILTERS[filter]} ${value}`;
  const show = (content: Child, status?: 400) =>
    showPage(
      <Layout
        page={page}
        title={title}
        heading={<bdi>{title}</bdi>}
        section={filter === "model" ? "models" : "requests"}
      >
        {content}
      </Layout>,
      status,
    );
  try {
    return show(await readUseOf(page, { filter, value }));
  } catch (error) {
    if (!(error instanceof AdminError) || error.status !== 400) throw error;
    return show(<FilterProblem text={describeProblems(error)} />, 400);
  }
}

export const usePageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/use", runInOrganization: showUse },
];
