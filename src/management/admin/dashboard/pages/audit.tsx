/** *Audit log*: who changed what. */
import { formatCount, formatLimit, formatMoney, formatTime, spellOut } from "../../format.ts";
import { formatLimitRows, type Limit } from "../../../../shared/settings/limits.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { Layout } from "../parts/layout.tsx";
import { List, pageQueryOf, type RowTableColumns } from "../parts/table.tsx";
import { Time } from "../parts/inline.tsx";
import type { AuditPageView } from "../views.ts";

type Entry = AuditPageView["data"][number];

async function showAudit(page: OrganizationPageCall): Promise<PageAnswer> {
  const query = pageQueryOf(page);
  const { body } = await page.api("GET /api/organizations/{organization}/audit", { query });
  return showPage(
    <Layout page={page} title="Audit log" section="audit">
      <List
        page={page}
        label="Audit log"
        list={body}
        columns={columnsOf(page.organization.currency)}
        empty="No changes yet."
      />
    </Layout>,
  );
}

function columnsOf(currency: string): RowTableColumns<Entry> {
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
          {action} <bdi class="below">{target.name ?? target.id}</bdi>
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
