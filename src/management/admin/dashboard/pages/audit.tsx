/** *Audit log*: who changed what. */
import { formatCount, formatLimit, formatMoney, formatTime, spellOut } from "../../format.ts";
import { formatLimitRows, type Limit } from "../../../../shared/settings/limits.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { Layout, Section } from "../parts/layout.tsx";
import { List, pageQueryOf, RowTable, type RowTableColumns } from "../parts/table.tsx";
import { Time } from "../parts/inline.tsx";
import type { AuditPageView } from "../views.ts";

type Entry = AuditPageView["data"][number];

async function showAudit(page: OrganizationPageCall): Promise<PageAnswer> {
  const target = page.query.get("target_id") ?? "";
  const query = { ...pageQueryOf(page), ...(target === "" ? {} : { target_id: target }) };
  const { body } = await page.api("GET /api/organizations/{organization}/audit", { query });
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
        list={body}
        columns={columnsOf(page)}
        empty={body.next === null ? "No changes yet." : "None among the latest entries."}
      />
    </Layout>,
  );
}

const SHOWN_CHANGES = "5";

/** Last changes of a key, user or group, with a link to all. */
export async function readChanges(page: OrganizationPageCall, id: string) {
  const query = { target_id: id, limit: SHOWN_CHANGES };
  const { body } = await page.api("GET /api/organizations/{organization}/audit", { query });
  return (
    <Section id="changes" title="Who changed what">
      <RowTable
        label="Changes"
        class="stack"
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
          {action}{" "}
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
      cell: (entry) => (
        <ul class="changes">
          {describeChanges(entry, currency).map((change) => (
            <li>{change}</li>
          ))}
        </ul>
      ),
    },
  ];
}

/** Formats "hard cap: none → 40.00 USD", a line for each changed field, including nested ones. */
function describeChanges({ before, after, target }: Entry, currency: string): string[] {
  const was = flatten(before);
  const is = flatten(after);
  const isTarget = (name: string): boolean => name === "key_id" && target.name !== null;
  const names = [...new Set([...was.keys(), ...is.keys()])].filter(
    (name) => keyOf(name, was.get(name)) !== keyOf(name, is.get(name)) && !isTarget(name),
  );
  return names.map((name) => {
    const from = before === null ? "" : `${formatValue(name, was.get(name), currency)} → `;
    const to = after === null ? "gone" : formatValue(name, is.get(name), currency);
    return `${spellOut(name).replace(/ (?:micro)?cents$/, "")}: ${from}${to}`;
  });
}

/** Settings that are on by default. */
const BEGINS_ON: ReadonlySet<string> = new Set(["notifications.dashboard"]);

/** Normalizes a value for comparison: missing, default and empty values are the same. */
function keyOf(name: string, value: unknown): string {
  const isOff = value === false && !BEGINS_ON.has(name);
  const isNothing = value === undefined || isOff || (Array.isArray(value) && value.length === 0);
  return JSON.stringify(isNothing ? null : value);
}

function flatten(fields: unknown, path = ""): Map<string, unknown> {
  if (typeof fields !== "object" || fields === null) return new Map();
  return new Map(
    Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
      const full = `${path}${name}`;
      const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
      const own: [string, unknown][] = [[full, value]];
      return isGroup ? [...flatten(value, `${full}.`)] : own;
    }),
  );
}

/** Settings without restriction if none is set. */
const MEANS_ALL: ReadonlySet<string> = new Set(["allowed_models", "key_defaults.allowed_models"]);

function formatValue(name: string, value: unknown, currency: string): string {
  if (value === null || value === undefined) return MEANS_ALL.has(name) ? "all" : "none";
  if (typeof value === "number" && name.endsWith("_microcents")) return formatMoney(value, currency);
  if (typeof value === "number" && name.endsWith("_cents")) return formatLimit(value, currency);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return formatCount(value);
  if (LIMITS.test(name)) return formatLimitRows(value as readonly Limit[]).join(", ") || "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(formatItem).join(", ");
  return formatItem(value);
}

const LIMITS = /(?:^|[._])limits$/;
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

function formatItem(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return TIME.test(value) ? formatTime(value) : value;
}

export const auditPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/audit", runInOrganization: showAudit },
];
