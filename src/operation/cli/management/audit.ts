import { formatTable, formatValue } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { createListCommand } from "./management-command.ts";
import { describeOutsideUsage } from "./usage-correct.ts";

export const auditCommand = createListCommand({
  usage: "audit",
  description: "Show who changed what, newest first. --json has the values before and after.",
  examples: ["audit --org Acme", "audit --limit 1000 --json > audit.json"],
  path: "audit",
  format: (screen, all) =>
    formatTable(screen, ["TIME", "WHO", "ACTION", "WHAT", "CHANGE"], all.map(formatRow)),
});

function formatRow(entry: JsonObject): string[] {
  const actor = entry["actor"] as JsonObject;
  const target = entry["target"] as JsonObject;
  return [
    String(entry["at"]),
    formatActor(actor),
    String(entry["action"]),
    String(target["name"] ?? target["id"]),
    formatChange(entry["before"] as JsonObject | null, entry["after"] as JsonObject | null),
  ];
}

/** Formats "Ada Lovelace (admin, ada@corp)": users may choose their names, but not their subjects. */
function formatActor({ type, name, role, subject }: JsonObject): string {
  const details = [role, subject].filter((detail) => detail !== undefined && detail !== null);
  return name === null
    ? String(type)
    : `${formatValue(name)} (${details.map((detail) => formatValue(detail)).join(", ")})`;
}

/** Formats "max_own_keys 5 -> 6"; empty for creations and deletions, except usage from outside. */
function formatChange(before: JsonObject | null, after: JsonObject | null): string {
  const outside = after?.["outside_usage"];
  if (outside !== undefined && outside !== null) return describeOutsideUsage(outside as JsonObject);
  if (before === null || after === null) return "";
  return Object.keys(after)
    .map((name) => `${name} ${JSON.stringify(before[name] ?? null)} -> ${JSON.stringify(after[name])}`)
    .join(", ");
}
