import type { Command } from "commander";
import {
  addCommands,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { formatTable } from "./table.ts";

interface CreateOptions extends ManagementOptions {
  readonly name: string;
  readonly role: string;
  readonly quiet?: true;
}

const create: OrganizationCommandRow = {
  usage: "create",
  description: "Makes a token for this organization alone and prints it, this once.",
  examples: [
    "token create --org Acme --name terraform --role admin",
    "token create --name report --role viewer --quiet > token",
  ],
  options: (command) =>
    command
      .requiredOption("--name <name>", "1 to 100 characters")
      .requiredOption("--role <role>", "admin, or viewer, who only reads")
      .option("-q, --quiet", "print nothing but the token"),
  async runInOrganization({ client, options, organization, path }: OrganizationCommandCall<CreateOptions>) {
    const { name, role } = options;
    const made = await client.call("POST", `${path}/tokens`, { body: { name, role } });
    const secret = String(made["token"]);
    if (options.quiet) return `${secret}\n`;
    const what = `Made the token "${name}" (${String(made["id"])}) of ${String(organization["name"])}.`;
    const text = `${what} It is shown this once, and only its hash is kept:\n\n  ${secret}\n`;
    return { json: made, text: () => text };
  },
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "All tokens of the organization.",
  examples: ["token list --org Acme"],
  async runInOrganization({ client, path }) {
    const all = await client.list(`${path}/tokens`);
    const fields = ["id", "name", "role", "display", "created_at"] as const;
    const rows = all.map((one) => fields.map((field) => String(one[field])));
    return { json: all, text: () => formatTable(["ID", "NAME", "ROLE", "TOKEN", "CREATED"], rows) };
  },
};

const remove: OrganizationCommandRow = {
  usage: "delete <token>",
  description: "Deletes a token by its id; it works no longer from the next call on.",
  examples: ["token delete token_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
  async runInOrganization({ client, argument, path }) {
    await client.call("DELETE", `${path}/tokens/${encodeURIComponent(argument)}`);
    return { json: { id: argument, deleted: true }, text: () => "Deleted the token.\n" };
  },
};

/** `token …` */
export function addTokenCommands(program: Command): void {
  const group = program.command("token").description("Tokens to manage one organization with.");
  addCommands(group, [create, list, remove]);
}
