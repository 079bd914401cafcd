import type { Command } from "commander";
import type { JsonObject } from "./admin-client.ts";
import { formatAmount } from "./amounts.ts";
import { CommandError } from "./command-error.ts";
import { addListCommand } from "./list-command.ts";
import {
  addManagementCommand,
  type ManagementOptions,
  print,
  withOrganization,
} from "./management-command.ts";
import { collect } from "./options.ts";
import { formatTable } from "./table.ts";

/** `alerts …` */
export function addAlertCommands(program: Command): void {
  const group = program.command("alerts").description("Alerts of budgets and hard caps, and their delivery.");
  addListCommand(group, {
    usage: "list",
    description: "The last alerts, newest first, with the state of each delivery.",
    examples: ["alerts list --org Acme", "alerts list --limit 1000 --json > alerts.json"],
    path: "alerts",
    format: (all) =>
      formatTable(["ID", "TIME", "OF", "REACHED", "SPENT", "EMAIL", "WEBHOOK"], all.map(formatRow)),
  });
  addRedeliver(group);
  addManagementCommand(group, {
    usage: "test",
    description: "Sends a test event to the organization's webhook and says what came of it.",
    examples: ["alerts test --org Acme"],
    inOrganization: true,
  }).action((options: ManagementOptions) =>
    withOrganization(options, async (client, _organization, path) => {
      const result = await client.call("POST", `${path}/webhook/test`);
      const duration = `${String(result["duration_ms"])} ms`;
      const isDelivered = result["delivered"] === true;
      if (isDelivered || options.json) {
        print(options, result, () => `The endpoint answered ${String(result["status"])} (${duration}).\n`);
      }
      if (isDelivered) return;
      throw new CommandError(`The test did not arrive (${duration}): ${String(result["error"])}.`);
    }),
  );
}

function addRedeliver(group: Command): void {
  addManagementCommand(group, {
    usage: "redeliver <alert>",
    description: "Sends an alert again: on the channels on which it did not arrive, or else on all.",
    examples: ["alerts redeliver alert_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --channel webhook"],
    inOrganization: true,
  })
    .option("--channel <channels>", "email or webhook, or both with a comma between", collect)
    .action((id: string, options: ManagementOptions & { channel?: string[] }) =>
      withOrganization(options, async (client, _organization, path) => {
        const body = options.channel ? { channels: options.channel } : {};
        const alert = await client.call("POST", `${path}/alerts/${encodeURIComponent(id)}/redeliver`, {
          body,
        });
        print(
          options,
          alert,
          () => "It is on its way again. `inference-gateway alerts list` shows how it goes.\n",
        );
      }),
    );
}

function formatRow(alert: JsonObject): string[] {
  const currency = String(alert["currency"]);
  const what = alert["type"] === "budget.threshold_reached" ? "budget" : "hard cap";
  const deliveries = alert["deliveries"] as Readonly<Record<string, JsonObject>>;
  const amount = formatAmount(alert["amount_cents"], currency);
  return [
    String(alert["id"]),
    String(alert["created_at"]),
    alert["scope"] === "key" ? `key ${String(alert["key_name"])}` : "organization",
    `${String(alert["threshold_percent"])}% of the ${what}, ${amount}`,
    formatAmount(alert["spent_cents"], currency),
    formatDelivery(deliveries["email"]),
    formatDelivery(deliveries["webhook"]),
  ];
}

function formatDelivery(delivery: JsonObject | undefined): string {
  const state = String(delivery?.["state"]);
  const error = delivery?.["last_error"];
  return typeof error === "string" ? `${state}: ${error}` : state;
}
