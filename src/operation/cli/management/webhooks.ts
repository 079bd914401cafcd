/** `webhook …`: the first webhook of an organization and the further ones. */
import type { Command } from "commander";
import { endOfShortId } from "../terminal/short-id.ts";
import { formatTable } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { cleanText, escapeHidden } from "../../../shared/text/plain-text.ts";
import { CommandError } from "./command-error.ts";
import {
  type CommandGroup,
  type CommandOutput,
  confirm,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
  type TextOptions,
} from "./management-command.ts";
import { WEBHOOK_ALERTS } from "../../../shared/settings/webhooks.ts";
import { collect } from "./option-values.ts";

type WebhookOptions = ManagementOptions &
  TextOptions<"format" | "url" | "routingKey"> & { readonly alerts?: string | readonly string[] };
type WebhookCall = OrganizationCommandCall<WebhookOptions>;

const FIRST = "webhook";
const ALERTS_HELP = `comma-separated alerts: ${WEBHOOK_ALERTS.join(", ")}`;

const list: OrganizationCommandRow = {
  usage: "list",
  description: "List webhooks, without secret parts of keys and URLs.",
  hasTable: true,
  examples: ["webhook list --org Acme"],
  runInOrganization({ organization }) {
    const all = listAll(organization);
    return Promise.resolve({
      json: { data: all, has_more: false, next: null },
      text: (screen) => formatTable(screen, ["ID", "FORMAT", "URL", "ALERTS", "STATE"], all.map(formatRow)),
    });
  },
};

const add: OrganizationCommandRow = {
  usage: "add",
  description: "Add a webhook, with a format and a choice of alerts.",
  examples: [
    "webhook add --format slack --url https://hooks.slack.com/services/T0/B0/x --org Acme",
    "webhook add --format pagerduty --routing-key 0123456789abcdef0123456789abcdef --alerts hard_cap_reached",
  ],
  options: (command) =>
    addAddressOptions(command.option("--format <format>", "standard, slack, teams or pagerduty")),
  async runInOrganization(call: WebhookCall) {
    const { format } = call.options;
    const wanted = { format, ...readOptions(call.options) };
    const changed = await change(call, [...furtherOf(call.organization).map(formatUnchanged), wanted]);
    return describe(changed, furtherOf(changed).at(-1), "Added");
  },
};

const set: OrganizationCommandRow = {
  usage: "set <webhook>",
  description: "Change the given settings of a webhook, by its id.",
  examples: [
    "webhook set webhook_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --alerts hard_cap_near,hard_cap_reached",
  ],
  options: addAddressOptions,
  async runInOrganization(call: WebhookCall) {
    const one = findFurther(call);
    const wanted = { id: one["id"], ...readOptions(call.options) };
    const all = furtherOf(call.organization).map((other) =>
      other === one ? wanted : formatUnchanged(other),
    );
    const changed = await change(call, all);
    const after = furtherOf(changed).find(({ id }) => id === one["id"]);
    return describe(changed, after, "Changed");
  },
};

const remove: OrganizationCommandRow = {
  usage: "remove <webhook>",
  description: "Remove a webhook by its id, or the first one by `webhook`.",
  needsConfirmation: true,
  examples: ["webhook remove webhook_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
  async runInOrganization(call: WebhookCall) {
    const { argument, options, organization, client, path } = call;
    const one = argument === FIRST ? null : findFurther(call);
    await confirm(`This removes the webhook ${argument}: it receives no more alerts.`, options);
    if (one === null) await client.call("PATCH", path, { body: { notifications: { webhook: null } } });
    else {
      const remaining = furtherOf(organization).filter((other) => other !== one);
      await change(call, remaining.map(formatUnchanged));
    }
    return { json: { id: argument, deleted: true }, text: () => `Removed the webhook ${argument}.\n` };
  },
};

const test: OrganizationCommandRow = {
  usage: "test <webhook>",
  description: "Send a test event to a webhook by its id, or to the first one by `webhook`.",
  examples: ["webhook test webhook_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
  runInOrganization: (call) => testChannel(call, pathOf(call)),
};

const rotate: OrganizationCommandRow = {
  usage: "rotate-secret <webhook>",
  description: "Create a new secret for a webhook. The previous secret signs for another day.",
  examples: ["webhook rotate-secret webhook --org Acme"],
  async runInOrganization(call) {
    const result = await call.client.call("POST", `${pathOf(call)}/rotate-secret`, { body: {} });
    const until = result["former_secret_until"];
    const text = `${formatSecret(String(result["secret"]))}\nThe previous one signs too until ${String(until)}.\n`;
    return { json: result, text: () => text };
  },
};

export const WEBHOOK_COMMANDS: CommandGroup = {
  name: "webhook",
  description: "Manage webhooks, which receive alerts.",
  rows: [list, add, set, remove, test, rotate],
};

/**
 * @param path API path of the webhook, or of the email addresses.
 * @param arrived Default: with the status that the endpoint returned.
 * @throws CommandError if the test did not arrive
 */
export async function testChannel(
  { client, options }: OrganizationCommandCall,
  path: string,
  arrived?: string,
): Promise<CommandOutput> {
  const result = await client.call("POST", `${path}/test`);
  const duration = `${String(result["duration_ms"])} ms`;
  if (result["delivered"] === true) {
    const text = `The ${arrived ?? `endpoint returned ${String(result["status"])}`} (${duration}).\n`;
    return { json: result, text: () => text };
  }
  if (options.json) process.stdout.write(`${escapeHidden(JSON.stringify(result))}\n`);
  throw new CommandError(`The test didn't arrive (${duration}): ${cleanText(String(result["error"]))}.`);
}

function addAddressOptions(command: Command): Command {
  return command
    .option("--url <url>", "address of the webhook; for pagerduty only needed outside the United States")
    .option("--routing-key <key>", "integration key of a PagerDuty service")
    .option("--alerts <alerts>", ALERTS_HELP, collect);
}

/** Builds the body; undefined fields are omitted by JSON. */
function readOptions({ url, routingKey, alerts }: WebhookOptions): object {
  return { url, routing_key: routingKey, alerts: Array.isArray(alerts) ? alerts : undefined };
}

/** Formats a webhook that stays unchanged when its list is replaced. */
function formatUnchanged({ id }: JsonObject): object {
  return { id };
}

/** Replaces the whole list of webhooks. Fails if the list has changed since it was read. */
async function change({ client, path, organization }: WebhookCall, webhooks: readonly object[]) {
  const { body, etag } = await client.read(path);
  const ids = (one: JsonObject) =>
    furtherOf(one)
      .map(({ id }) => String(id))
      .join(" ");
  if (ids(body) !== ids(organization)) {
    throw new CommandError("Another person or program changed the webhooks at the same time. Try again.");
  }
  const headers = { "if-match": etag };
  return client.call("PATCH", path, { body: { notifications: { webhooks } }, headers });
}

function describe(json: JsonObject, one: JsonObject | undefined, verb: string): CommandOutput {
  const { id, secret } = one ?? {};
  const text = `${verb} ${String(id)}.\n${typeof secret === "string" ? `\n${formatSecret(secret)}` : ""}`;
  return { json, text: () => text };
}

/** Formats a webhook's secret, which is shown only once. */
export function formatSecret(secret: string): string {
  return `The webhook's secret, which verifies its signatures. It is shown only once:\n\n  ${secret}\n`;
}

function notificationsOf(organization: JsonObject): JsonObject {
  return organization["notifications"] as JsonObject;
}

function furtherOf(organization: JsonObject): readonly JsonObject[] {
  return notificationsOf(organization)["webhooks"] as readonly JsonObject[];
}

function listAll(organization: JsonObject): readonly JsonObject[] {
  const first = notificationsOf(organization)[FIRST] as JsonObject | null;
  const all = furtherOf(organization);
  return first === null ? all : [{ ...first, id: FIRST, format: "standard" }, ...all];
}

function findFurther({ organization, argument }: OrganizationCommandCall): JsonObject {
  const end = endOfShortId("webhook", argument);
  const found = furtherOf(organization).find(({ id }) => {
    return id === argument || (end !== null && String(id).endsWith(end));
  });
  if (found !== undefined) return found;
  throw new CommandError(
    argument === FIRST
      ? "The first webhook is not set. Set it with `inference-gateway org set --webhook <url>`."
      : `Unknown webhook ${argument}. \`inference-gateway webhook list\` shows all.`,
  );
}

function pathOf(call: OrganizationCommandCall): string {
  if (call.argument === FIRST) return `${call.path}/webhook`;
  return `${call.path}/webhooks/${encodeURIComponent(String(findFurther(call)["id"]))}`;
}

function formatRow({ id, format, url, routing_key: key, alerts, disabled_at: at }: JsonObject): string[] {
  return [
    String(id),
    String(format),
    typeof key === "string" ? `${String(url)} (${key})` : String(url),
    Array.isArray(alerts) && alerts.length < 4 ? alerts.join(", ") : "all",
    typeof at === "string" ? `disabled since ${at}: 410 Gone` : "active",
  ];
}
