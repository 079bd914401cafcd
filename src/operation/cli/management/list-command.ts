import type { JsonObject, ListQuery } from "./admin-client.ts";
import type {
  CommandRow,
  ManagementOptions,
  OrganizationCommandCall,
  OrganizationCommandRow,
} from "./management-command.ts";
import type { Screen } from "../terminal/screen.ts";
import { parseLimit } from "./options.ts";

const DEFAULT_LIMIT = 20;

interface ListOptions extends ManagementOptions {
  readonly limit: number;
  readonly after?: string;
}

export interface ListedIn {
  /** The organization's. */
  readonly currency: string;
  /** Of the management API and the dashboard, without a slash at the end. */
  readonly url: string;
}

interface ListRow extends CommandRow {
  /** What else the list is asked for, from the options of the command's own. */
  readonly query?: (call: OrganizationCommandCall) => Promise<ListQuery>;
  /** Below the organization: "alerts". */
  readonly path: string;
  /** For people. */
  readonly format: (screen: Screen, all: readonly JsonObject[], about: ListedIn) => string;
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
    hasTable: true,
    options: (command) => {
      command.option("--limit <n>", "maximum number of rows", parseLimit, DEFAULT_LIMIT);
      command.option("--after <next>", "start after this `next` of the previous page (from --json)");
      return options?.(command) ?? command;
    },
    async runInOrganization(call: OrganizationCommandCall<ListOptions>) {
      const { limit, after } = call.options;
      const wanted = { ...(await query?.(call)), after };
      const page = await call.client.listPages(`${call.path}/${path}`, limit, wanted);
      const about = { currency: String(call.organization["currency"]), url: call.client.url };
      return { json: page, text: (screen) => format(screen, page.data, about) };
    },
  };
}
