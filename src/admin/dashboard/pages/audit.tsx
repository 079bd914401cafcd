/** @jsxImportSource hono/jsx */
/** *Audit log*: who changed what. */
import { formatLimit, formatMoney, formatTime, spellOut } from "../format.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { Layout } from "../parts/layout.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import type { AuditPageView } from "../views.ts";

type Entry = AuditPageView["data"][number];

async function showAudit(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body } = await page.api("GET /api/organizations/{organization}/audit", {
    params: { organization: page.organization.id },
    query: pageQueryOf(page),
  });
  const { data, next } = body as AuditPageView;
  return {
    markup: (
      <Layout page={page} title="Audit log" section="audit">
        {data.length === 0 ? (
          <p class="card empty">Nothing was changed yet.</p>
        ) : (
          <AuditTable entries={data} currency={page.organization.currency} />
        )}
        <Older page={page} next={next} />
      </Layout>
    ),
  };
}

function AuditTable({ entries, currency }: { entries: readonly Entry[]; currency: string }) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label="Audit log">
      <table>
        <thead>
          <tr>
            <th scope="col">time</th>
            <th scope="col">who</th>
            <th scope="col">what</th>
            <th scope="col">change</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr>
              <th scope="row">{formatTime(entry.at)}</th>
              <td>{entry.actor.name ?? entry.actor.type}</td>
              <td>
                {entry.action} <span class="below">{entry.target.name ?? entry.target.id}</span>
              </td>
              <td>
                <ul class="changes">
                  {describeChanges(entry, currency).map((change) => (
                    <li>{change}</li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** "hard cap: none → 40.00 USD", a line for each field, those inside of others too. */
function describeChanges({ before, after }: Entry, currency: string): string[] {
  const was = flatten(before);
  const is = flatten(after);
  return [...new Set([...was.keys(), ...is.keys()])].map((name) => {
    const from = before === null ? "" : `${formatValue(name, was.get(name), currency)} → `;
    const to = after === null ? "gone" : formatValue(name, is.get(name), currency);
    return `${spellOut(name).replace(/ (?:micro)?cents$/, "")}: ${from}${to}`;
  });
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

function formatValue(name: string, value: unknown, currency: string): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "number" && name.endsWith("_microcents")) return formatMoney(value, currency);
  if (typeof value === "number" && name.endsWith("_cents")) return formatLimit(value, currency);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export const auditPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/audit", runInOrganization: showAudit },
];
