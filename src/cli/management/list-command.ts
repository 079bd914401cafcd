import type { Command } from "commander";
import type { JsonObject } from "./admin-client.ts";
import {
  addManagementCommand,
  type ManagementOptions,
  print,
  withOrganization,
} from "./management-command.ts";
import { parseWhole } from "./options.ts";

const DEFAULT_LIMIT = 20;

interface ListText {
  readonly usage: string;
  readonly description: string;
  readonly examples: readonly string[];
  /** Below the organization: "alerts". */
  readonly path: string;
  /** For people. @param currency The organization's. */
  readonly format: (all: readonly JsonObject[], currency: string) => string;
}

/** A command that shows the newest items of one of an organization's lists, `--limit` of them. */
export function addListCommand(parent: Command, { path, format, ...text }: ListText): void {
  addManagementCommand(parent, { ...text, inOrganization: true })
    .option("--limit <n>", "how many at most", parseWhole, DEFAULT_LIMIT)
    .action((options: ManagementOptions & { limit: number }) =>
      withOrganization(options, async (client, organization, base) => {
        const all = await client.list(`${base}/${path}`, options.limit);
        print(options, all, () => format(all, String(organization["currency"])));
      }),
    );
}
