import type { JsonObject, ListQuery } from "./admin-client.ts";
import type {
  CommandRow,
  ManagementOptions,
  OrganizationCommandCall,
  OrganizationCommandRow,
} from "./management-command.ts";
import { parseWhole } from "./options.ts";

const DEFAULT_LIMIT = 20;

interface ListRow extends CommandRow {
  /** What else the list is asked for, from the options of the command's own. */
  readonly query?: (call: OrganizationCommandCall) => Promise<ListQuery>;
  /** Below the organization: "alerts". */
  readonly path: string;
  /** For people. @param currency The organization's. */
  readonly format: (all: readonly JsonObject[], currency: string) => string;
}

/** A command that shows the newest items of one of an organization's lists, `--limit` of them. */
export function createListCommand({
  path,
  format,
  query,
  options,
  ...text
}: ListRow): OrganizationCommandRow {
  return {
    ...text,
    options: (command) => {
      command.option("--limit <n>", "how many at most", parseWhole, DEFAULT_LIMIT);
      return options?.(command) ?? command;
    },
    async runInOrganization(call: OrganizationCommandCall<ManagementOptions & { limit: number }>) {
      const wanted = (await query?.(call)) ?? {};
      const all = await call.client.list(`${call.path}/${path}`, call.options.limit, wanted);
      return { json: all, text: () => format(all, String(call.organization["currency"])) };
    },
  };
}
