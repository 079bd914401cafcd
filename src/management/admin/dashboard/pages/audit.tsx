/** *Audit log*: who changed what. */
import { describeAction, describeChanges } from "../audit-words.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { Layout, Section } from "../parts/layout.tsx";
import { List, pageQueryOf, RowTable, type RowTableColumns } from "../parts/table.tsx";
import { Time } from "../parts/inline.tsx";
import type { AuditPageView } from "../views.ts";

const ENTRIES = "GET /api/organizations/{organization}/audit";
type Entry = AuditPageView["data"][number];

async function showAudit(page: OrganizationPageCall): Promise<PageAnswer> {
  const target = page.query.get("target_id") ?? "";
  const of = target === "" ? {} : { target_id: target };
  const query = { ...pageQueryOf(page), ...of, limit: SHOWN_ENTRIES };
  const { body: list } = await page.api(ENTRIES, { query });
  return showPage(
    <Layout page={page} title="Audit log" section="audit">
      {target === "" ? null : (
        <p>
          Only changes of <code>{target}</code>. <a href={page.path}>Show all</a>
        </p>
      )}
      <List
        page={page}
        label="Audit log"
        list={list}
        columns={columnsOf(page)}
        empty={list.next === null ? "No changes yet." : "None among the latest entries."}
      />
    </Layout>,
  );
}

const SHOWN_ENTRIES = "15";
const SHOWN_CHANGES = "5";

/** Last changes of a key, user or group, with a link to all. */
export async function readChanges(page: OrganizationPageCall, id: string) {
  const { body } = await page.api(ENTRIES, { query: { target_id: id, limit: SHOWN_CHANGES } });
  return (
    <Section id="changes" title="Who changed what">
      <RowTable
        label="Changes"
        class="stack latest"
        columns={columnsOf(page)}
        rows={body.data}
        empty="No changes in the latest entries of the audit log."
      />
      <p>
        <a href={`${page.base}/audit?target_id=${id}`}>All changes</a>
      </p>
    </Section>
  );
}

/** Pages of changed objects, by the type of the entry's target. */
const PAGES: Readonly<Record<string, string>> = { key: "keys", user: "users", group: "groups" };

const SHOWN_LINES = 2;

/** The first lines; the others unfold. */
function Changes({ lines }: { lines: readonly string[] }) {
  const isLong = lines.length > SHOWN_LINES + 1;
  const [first, rest] = isLong ? [lines.slice(0, SHOWN_LINES), lines.slice(SHOWN_LINES)] : [lines, []];
  const list = (some: readonly string[]) => some.map((line) => <li>{line}</li>);
  return (
    <div class="changes">
      <ul>{list(first)}</ul>
      {rest.length === 0 ? null : (
        <details>
          <summary>{rest.length} more</summary>
          <ul>{list(rest)}</ul>
        </details>
      )}
    </div>
  );
}

function columnsOf({ base, organization: { currency } }: OrganizationPageCall): RowTableColumns<Entry> {
  return [
    { label: "time", cell: ({ at }) => <Time at={at} /> },
    {
      label: "who",
      cell: ({ actor }) => (
        <>
          <bdi>{actor.name ?? actor.type}</bdi>
          {actor.name !== null && (
            <bdi class="below">{[actor.role, actor.subject].filter(Boolean).join(", ")}</bdi>
          )}
        </>
      ),
    },
    {
      label: "what",
      cell: ({ action, target }) => (
        <>
          {describeAction(action)}{" "}
          <span class="below">
            {PAGES[target.type] === undefined ? (
              <bdi>{target.name ?? target.id}</bdi>
            ) : (
              <a href={`${base}/${PAGES[target.type]}/${target.id}`}>
                <bdi>{target.name ?? target.id}</bdi>
              </a>
            )}
          </span>
        </>
      ),
    },
    {
      label: "change",
      cell: (entry) => <Changes lines={describeChanges(entry, currency)} />,
    },
  ];
}

export const auditPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/audit", runInOrganization: showAudit },
];
