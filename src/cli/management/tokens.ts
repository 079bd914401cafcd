import type { Command } from "commander";
import {
  addManagementCommand,
  type ManagementOptions,
  print,
  withOrganization,
} from "./management-command.ts";
import { formatTable } from "./table.ts";

interface CreateOptions extends ManagementOptions {
  readonly name: string;
  readonly role: string;
  readonly quiet?: true;
}

/** `token …` */
export function addTokenCommands(program: Command): void {
  const group = program.command("token").description("Tokens to manage one organization with.");
  addCreate(group);
  addManagementCommand(group, {
    usage: "list",
    description: "All tokens of the organization.",
    examples: ["token list --org Acme"],
    inOrganization: true,
  }).action((options: ManagementOptions) =>
    withOrganization(options, async (client, _organization, path) => {
      const all = await client.list(`${path}/tokens`);
      const fields = ["id", "name", "role", "display", "created_at"] as const;
      const rows = all.map((one) => fields.map((field) => String(one[field])));
      print(options, all, () => formatTable(["ID", "NAME", "ROLE", "TOKEN", "CREATED"], rows));
    }),
  );
  addManagementCommand(group, {
    usage: "delete <token>",
    description: "Deletes a token by its id; it works no longer from the next call on.",
    examples: ["token delete token_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
    inOrganization: true,
  }).action((id: string, options: ManagementOptions) =>
    withOrganization(options, async (client, _organization, path) => {
      await client.call("DELETE", `${path}/tokens/${encodeURIComponent(id)}`);
      print(options, { id, deleted: true }, () => "Deleted the token.\n");
    }),
  );
}

function addCreate(group: Command): void {
  addManagementCommand(group, {
    usage: "create",
    description: "Makes a token for this organization alone and prints it, this once.",
    examples: [
      "token create --org Acme --name terraform --role admin",
      "token create --name report --role viewer --quiet > token",
    ],
    inOrganization: true,
  })
    .requiredOption("--name <name>", "1 to 100 characters")
    .requiredOption("--role <role>", "admin, or viewer, who only reads")
    .option("-q, --quiet", "print nothing but the token")
    .action((options: CreateOptions) =>
      withOrganization(options, async (client, organization, path) => {
        const { name, role } = options;
        const made = await client.call("POST", `${path}/tokens`, { body: { name, role } });
        const secret = String(made["token"]);
        if (options.quiet) {
          process.stdout.write(`${secret}\n`);
          return;
        }
        const what = `Made the token "${name}" (${String(made["id"])}) of ${String(organization["name"])}.`;
        print(
          options,
          made,
          () => `${what} It is shown this once, and only its hash is kept:\n\n  ${secret}\n`,
        );
      }),
    );
}
