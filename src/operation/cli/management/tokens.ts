import { TOKEN_ROLES } from "../../../shared/stored/tokens.ts";
import { formatTable } from "../terminal/table.ts";
import {
  type CommandGroup,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { deleteCommand } from "./owner-commands.ts";
import { findToken } from "./find.ts";

interface CreateOptions extends ManagementOptions {
  readonly name: string;
  readonly role: string;
  readonly quiet?: true;
}

const create: OrganizationCommandRow = {
  usage: "create",
  description: "Create a management token and print it, only once.",
  examples: [
    "token create --org Acme --name terraform --role admin",
    "token create --name report --role viewer --quiet > token",
  ],
  options: (command) =>
    command
      .requiredOption("--name <name>", "1 to 100 characters")
      .addOption(
        command
          .createOption("--role <role>", "admin, or viewer (read only)")
          .choices(TOKEN_ROLES)
          .makeOptionMandatory(),
      )
      .option("-q, --quiet", "print only the token"),
  async runInOrganization({ client, options, organization, path }: OrganizationCommandCall<CreateOptions>) {
    const { name, role } = options;
    const made = await client.call("POST", `${path}/tokens`, { body: { name, role } });
    const secret = String(made["token"]);
    if (options.quiet) return `${secret}\n`;
    const result = `Created the token "${name}" (${String(made["id"])}) of ${String(organization["name"])}.`;
    const text = `${result} It is shown only once (the gateway stores its hash):\n\n  ${secret}\n`;
    return { json: made, text: () => text };
  },
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "List the management tokens of the organization.",
  hasTable: true,
  examples: ["token list --org Acme"],
  async runInOrganization({ client, path }) {
    const all = await client.listPages(`${path}/tokens`);
    const fields = ["id", "name", "role", "display", "created_at"] as const;
    const rows = all.data.map((one) => fields.map((field) => String(one[field])));
    const columns = ["ID", "NAME", "ROLE", "TOKEN", "CREATED"];
    return { json: all, text: (screen) => formatTable(screen, columns, rows) };
  },
};

const remove = deleteCommand(
  { name: "token", find: findToken },
  {
    alias: "revoke",
    description: "Permanently delete a management token, by id or name.",
    examples: ["token delete token_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
    consequence: () => ": calls with it return 401 at once",
  },
);

export const TOKEN_COMMANDS: CommandGroup = {
  name: "token",
  description: "Manage the management tokens of an organization.",
  rows: [create, list, remove],
};
