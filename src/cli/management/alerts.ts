import type { Command } from "commander";
import type { Level } from "../terminal/screen.ts";
import { formatTable } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { formatAmount } from "./amounts.ts";
import { findAlertId } from "./find.ts";
import { createListCommand } from "./list-command.ts";
import {
  addCommands,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { collect } from "./options.ts";
import { testWebhook } from "./webhooks.ts";

const list = createListCommand({
  usage: "list",
  description: "The last alerts, newest first, with the state of each delivery.",
  examples: ["alerts list --org Acme", "alerts list --limit 1000 --json > alerts.json"],
  path: "alerts",
  format: (screen, all) => {
    const columns = [
      "ID",
      "TIME",
      "OF",
      "REACHED",
      "SPENT",
      deliveryColumn("email", all),
      deliveryColumn("webhook", all),
    ];
    return formatTable(screen, columns, all.map(formatRow));
  },
});

const redeliver: OrganizationCommandRow = {
  usage: "redeliver <alert>",
  description: "Sends an alert again: on the channels on which it did not arrive, or else on all.",
  examples: ["alerts redeliver alert_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --channel webhook"],
  options: (command) =>
    command.option(
      "--channel <channels>",
      "email, webhook or the id of a further webhook, with commas between",
      collect,
    ),
  async runInOrganization(call: OrganizationCommandCall<ManagementOptions & { channel?: string[] }>) {
    const { client, options, argument, path } = call;
    const body = options.channel ? { channels: options.channel } : {};
    const id = await findAlertId(client, path, argument);
    const target = `${path}/alerts/${encodeURIComponent(id)}/redeliver`;
    const text = "It is on its way again. `inference-gateway alerts list` shows how it goes.\n";
    return { json: await client.call("POST", target, { body }), text: () => text };
  },
};

const test: OrganizationCommandRow = {
  usage: "test",
  description: "Sends a test event to the organization's webhook and says what came of it.",
  examples: ["alerts test --org Acme"],
  runInOrganization: (call) => testWebhook(call, `${call.path}/webhook`),
};

/** `alerts …` */
export function addAlertCommands(program: Command): void {
  const group = program.command("alerts").description("Alerts of budgets and hard caps, and their delivery.");
  addCommands(group, [list, redeliver, test]);
}

/** The worst first. */
const STATES = ["failed", "pending", "delivered", "off"] as const;
const LEVELS: Readonly<Record<string, Level>> = {
  delivered: "good",
  failed: "bad",
  pending: "warning",
  off: "quiet",
};

function deliveryColumn(channel: "email" | "webhook", all: readonly JsonObject[]) {
  const stateOf = (alert: JsonObject) => deliveryOf(alert, channel)["state"];
  return {
    header: channel.toUpperCase(),
    levels: all.map((alert) => LEVELS[String(stateOf(alert))] ?? null),
  };
}

function formatRow(alert: JsonObject): string[] {
  const currency = String(alert["currency"]);
  const what = alert["type"] === "budget.threshold_reached" ? "budget" : "hard cap";
  const amount = formatAmount(alert["amount_cents"], currency);
  return [
    String(alert["id"]),
    String(alert["created_at"]),
    alert["scope"] === "key" ? `key ${String(alert["key_name"])}` : "organization",
    `${String(alert["threshold_percent"])}% of the ${what}, ${amount}`,
    formatAmount(alert["spent_cents"], currency),
    formatDelivery(deliveryOf(alert, "email")),
    formatDelivery(deliveryOf(alert, "webhook")),
  ];
}

/** Of several webhooks the one that stands worst. */
function deliveryOf(alert: JsonObject, channel: "email" | "webhook"): JsonObject {
  const { email, webhook, webhooks } = alert["deliveries"] as {
    readonly email: JsonObject;
    readonly webhook: JsonObject;
    readonly webhooks: Readonly<Record<string, JsonObject>>;
  };
  if (channel === "email") return email;
  const all = [webhook, ...Object.values(webhooks)];
  const worst = STATES.find((state) => all.some((delivery) => delivery["state"] === state));
  return all.find((delivery) => delivery["state"] === worst) ?? webhook;
}

function formatDelivery(delivery: JsonObject): string {
  const state = String(delivery["state"]);
  const error = delivery["last_error"];
  return typeof error === "string" ? `${state}: ${error}` : state;
}
