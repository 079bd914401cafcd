/** *Statement* of a month, made for print: spend by model, group and API key, corrections with their reasons. */
import { monthAt, monthsBackFrom } from "../../../../shared/time/calendar.ts";
import { formatCount, formatCountOf, formatTime, groupThousands, monthName } from "../../format.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { Choice } from "../parts/filter-fields.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { RowTable, type RowTableColumns } from "../parts/table.tsx";
import type { StatementView } from "../views.ts";

const MONTHS_BACK = 24;

type Line = StatementView["models"][number];

async function showStatement(page: OrganizationPageCall): Promise<PageAnswer> {
  const { organization, base, nowMs } = page;
  const wanted = page.query.get("month");
  const query = wanted === null ? {} : { month: wanted };
  const { body } = await page.api("GET /api/organizations/{organization}/statement", { query });
  const title = `Statement of ${monthName(body.month)}`;
  const months = monthsBackFrom(monthAt(nowMs), MONTHS_BACK).map(
    ({ name }) => [name, monthName(name)] as const,
  );
  return showPage(
    <Layout page={page} title={title} section="usage">
      <form method="get" action={`${base}/statement`} class="filters screen-only" aria-label="Another month">
        <Choice name="month" label="Month" value={body.month} choices={new Map(months)} required />
        <div class="buttons">
          <button type="submit" class="quiet">
            Show
          </button>
        </div>
      </form>
      <Head statement={body} />
      <Lines id="models" title="By model" heading="model" lines={body.models} currency={body.currency} />
      <Lines id="groups" title="By group" heading="group" lines={body.groups} currency={body.currency} />
      <Lines id="keys" title="By API key" heading="API key" lines={body.keys} currency={body.currency} />
      <Corrections statement={body} />
      <p class="quiet">
        Organization {organization.id}. Amounts are rounded half up, each from its exact amount, so lines can
        differ from their sum in the last digit. Made at {formatTime(body.created_at)}.
      </p>
    </Layout>,
  );
}

function Head({ statement }: { statement: StatementView }) {
  const { organization_name: name, currency } = statement;
  const figures = {
    Requests: statement.usage_amount,
    Corrections: statement.corrections_amount,
    Total: statement.total_amount,
  };
  return (
    <div class="card statement">
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        , {monthName(statement.month)}
        {statement.is_complete ? "" : ", not over yet: amounts can still grow"}
      </p>
      <dl class="figures">
        {Object.entries(figures).map(([label, amount]) => (
          <div>
            <dt>{label}</dt>
            <dd>
              {groupThousands(amount)} {currency}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

interface LinesProps {
  readonly id: string;
  readonly title: string;
  readonly heading: string;
  readonly lines: readonly Line[];
  readonly currency: string;
}

function Lines({ id, title, heading, lines, currency }: LinesProps) {
  const columns: RowTableColumns<Line> = [
    { label: heading, cell: (line) => <bdi>{nameOf(line)}</bdi> },
    { label: "requests", kind: "number", cell: ({ requests }) => formatCount(requests) },
    { label: `amount, ${currency}`, kind: "number", cell: ({ amount }) => groupThousands(amount) },
  ];
  return (
    <Section id={id} title={title}>
      <RowTable label={`${title}, table`} columns={columns} rows={lines} empty="No requests in this month." />
    </Section>
  );
}

function nameOf({ id, name, others: furtherKeys }: Line): string {
  if (furtherKeys !== undefined) return formatCountOf(furtherKeys, "further API key");
  return name ?? id ?? "none";
}

function Corrections({ statement }: { statement: StatementView }) {
  const columns: RowTableColumns<StatementView["corrections"][number]> = [
    { label: "reason", cell: ({ reason }) => <bdi>{reason}</bdi> },
    { label: "time", cell: ({ created_at: time }) => (time === null ? "" : formatTime(time)) },
    { label: "for", cell: ({ name }) => <bdi>{name ?? ""}</bdi> },
    {
      label: `amount, ${statement.currency}`,
      kind: "number",
      cell: ({ amount }) => groupThousands(amount),
    },
  ];
  return (
    <Section id="corrections" title="Corrections">
      <RowTable
        label="Corrections, table"
        class="stack"
        columns={columns}
        rows={statement.corrections}
        empty="No corrections in this month."
      />
    </Section>
  );
}

export const statementPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/statement", runInOrganization: showStatement },
];
