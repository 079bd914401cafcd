import { type NamedLimit, nameLimit, nameOwner } from "../../../shared/settings/limit-words.ts";
import type { Level, Screen } from "../terminal/screen.ts";
import { cleanText } from "../../../shared/text/plain-text.ts";
import { formatRecords, formatValue, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { collect, formatAmount, formatSecond } from "./option-values.ts";
import { findAlertId } from "./find.ts";
import {
  type CommandGroup,
  createListCommand,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { testChannel } from "./webhooks.ts";

const list = createListCommand({
  usage: "list",
  description: "List recent alerts with the state of each delivery, newest first.",
  examples: ["alerts list --org Acme", "alerts list --limit 1000 --json > alerts.json"],
  path: "alerts",
  format: (screen, all, { url }) => formatAlerts(screen, all, url),
});

const redeliver: OrganizationCommandRow = {
  usage: "redeliver <alert>",
  description: "Send an alert again where its delivery failed, or otherwise on every channel.",
  examples: ["alerts redeliver alert_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --channel webhook"],
  options: (command) =>
    command.option(
      "--channel <channels>",
      "channels to send on instead, comma-separated: email, webhook or the id of another webhook",
      collect,
    ),
  async runInOrganization(call: OrganizationCommandCall<ManagementOptions & { channel?: string[] }>) {
    const { client, options, argument, path } = call;
    const body = options.channel ? { channels: options.channel } : {};
    const id = await findAlertId(client, path, argument);
    const target = `${path}/alerts/${encodeURIComponent(id)}/redeliver`;
    const text = "Sending the alert again. `inference-gateway alerts list` shows the result.\n";
    return { json: await client.call("POST", target, { body }), text: () => text };
  },
};

const test: OrganizationCommandRow = {
  usage: "test",
  description: "Send a test event to the organization's first webhook, or a test email.",
  examples: ["alerts test --org Acme", "alerts test --email --org Acme"],
  options: (command) =>
    command.option("--email", "send an email to the organization's addresses instead", false),
  runInOrganization(call: OrganizationCommandCall<ManagementOptions & { email: boolean }>) {
    return call.options.email
      ? testChannel(call, `${call.path}/email`, "mail server accepted the email")
      : testChannel(call, `${call.path}/webhook`);
  },
};

export const ALERT_COMMANDS: CommandGroup = {
  name: "alerts",
  description: "Manage alerts of budgets and hard caps, and their delivery.",
  rows: [list, redeliver, test],
};

/**
 * Formats a line for each limit and message, and where each limit is changed. @param url The dashboard's, if
 * the operator has not configured it.
 */
export function formatAlerts(screen: Screen, all: readonly JsonObject[], url: string): string {
  const reached = groupByLimit(all);
  const worst = reached.map(([alert]) => alert);
  return formatRecords(screen, COLUMNS, reached) + formatLinks(worst, url);
}

/** Levels of delivery states, worst first. */
const LEVELS: Readonly<Record<string, Level>> = {
  failed: "bad",
  pending: "warning",
  delivered: "good",
  off: "quiet",
};

function deliveryColumn(channel: "email" | "webhook"): RecordColumn<Reached> {
  const stateOf = ([alert]: Reached) => deliveryOf(alert, channel)["state"];
  return {
    header: channel.toUpperCase(),
    cell: ([alert]) => formatDelivery(deliveryOf(alert, channel)),
    level: (reached) => LEVELS[String(stateOf(reached))] ?? null,
  };
}

/** Alerts of one message and one limit, newest first. */
type Reached = readonly [JsonObject, ...JsonObject[]];

/** Groups alerts, which are adjacent in the list. */
function groupByLimit(all: readonly JsonObject[]): readonly Reached[] {
  const groups = new Map<string, [JsonObject, ...JsonObject[]]>();
  for (const alert of all) {
    const name = [alert["message_id"], nameSubject(alert), nameLimitOf(alert)].join(" ");
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [alert]);
    else group.push(alert);
  }
  return [...groups.values()];
}

const COLUMNS: readonly RecordColumn<Reached>[] = [
  { header: "ID", cell: ([alert]) => alert["id"], isExtra: true },
  { header: "TIME", cell: ([alert]) => formatSecond(alert["created_at"]) },
  { header: "OF", cell: ([alert]) => nameSubject(alert) },
  { header: "REACHED", cell: formatReached },
  { header: "SPENT", cell: ([alert]) => formatAmount(alert["spent_cents"], String(alert["currency"])) },
  deliveryColumn("email"),
  deliveryColumn("webhook"),
];

/** Formats "80%, 100% of the monthly budget, 50.00 USD". */
function formatReached(reached: Reached): string {
  const [alert] = reached;
  const percents = reached.map((one) => `${String(one["threshold_percent"])}%`).toReversed();
  const amount = formatAmount(alert["amount_cents"], String(alert["currency"]));
  const type = String(alert["type"]);
  if (type === "spend.summary") return `summary of the ${String(alert["period"])}`;
  if (type === "spend.sudden") return `${String(alert["threshold_percent"])}% of a usual day, ${amount}`;
  if (type.endsWith(".forecast_exceeded")) percents[0] = `forecast of ${percents[0]}`;
  return `${percents.join(", ")} of the ${nameLimitOf(alert)}, ${amount}`;
}

function nameSubject(alert: JsonObject): string {
  const scope = alert["scope"] as NamedLimit["scope"];
  const name = scope === "organization" ? null : String(alert[scope === "key" ? "key_name" : "owner_name"]);
  return nameOwner({ scope, name });
}

function nameLimitOf({ type, period }: JsonObject): string {
  const kind = String(type).startsWith("budget.") ? "budget" : "cap";
  return nameLimit({ period: period as NamedLimit["period"], kind });
}

/** Formats a line for each limit with the place where it is changed. */
function formatLinks(all: readonly JsonObject[], url: string): string {
  const lines = all.flatMap((alert) => {
    const { path, url: page } = alert;
    // Missing in responses of gateways older than this command.
    if (typeof path !== "string" || String(alert["type"]).startsWith("spend.")) return [];
    const address = formatValue(page, `${url}${path}`);
    return [cleanText(`Change the ${nameLimitOf(alert)} of ${nameSubject(alert)}: ${address}`)];
  });
  return lines.length === 0 ? "" : `\n${[...new Set(lines)].join("\n")}\n`;
}

/** Returns the delivery; of several webhooks the one with the worst state. */
function deliveryOf(alert: JsonObject, channel: "email" | "webhook"): JsonObject {
  const { email, webhook, webhooks } = alert["deliveries"] as {
    readonly email: JsonObject;
    readonly webhook: JsonObject;
    readonly webhooks: Readonly<Record<string, JsonObject>>;
  };
  if (channel === "email") return email;
  const all = [webhook, ...Object.values(webhooks)];
  const worst = Object.keys(LEVELS).find((state) => all.some((delivery) => delivery["state"] === state));
  return all.find((delivery) => delivery["state"] === worst) ?? webhook;
}

function formatDelivery(delivery: JsonObject): string {
  const state = String(delivery["state"]);
  const error = delivery["last_error"];
  return typeof error === "string" ? `${state}: ${error}` : state;
}
