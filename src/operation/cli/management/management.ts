/**
 * Management from the shell: organizations, keys, users, groups, tokens, usage. Each command only makes calls
 * of the management API; it has no rules of its own and does not read Redis. Exit codes: 0 done, 1 rejected
 * or failed, 2 invalid command line.
 */
import type { Command } from "commander";
import { ALERT_COMMANDS } from "./alerts.ts";
import { auditCommand } from "./audit.ts";
import { catalogCommand } from "./catalog.ts";
import { GROUP_COMMANDS } from "./groups.ts";
import { KEY_COMMANDS } from "./keys.ts";
import { LIMIT_COMMANDS } from "./limits.ts";
import { addLoginCommands } from "./login.ts";
import { addCommands, type CommandGroup } from "./management-command.ts";
import { ORGANIZATION_COMMANDS } from "./organizations.ts";
import { RAISE_COMMANDS } from "./raises.ts";
import { REQUEST_COMMANDS } from "./requests.ts";
import { TOKEN_COMMANDS } from "./tokens.ts";
import { USAGE_COMMANDS } from "./usage.ts";
import { USER_COMMANDS } from "./users.ts";
import { WEBHOOK_COMMANDS } from "./webhooks.ts";

const GROUPS: readonly CommandGroup[] = [
  ORGANIZATION_COMMANDS,
  KEY_COMMANDS,
  USER_COMMANDS,
  GROUP_COMMANDS,
  LIMIT_COMMANDS,
  RAISE_COMMANDS,
  USAGE_COMMANDS,
  REQUEST_COMMANDS,
  ALERT_COMMANDS,
  WEBHOOK_COMMANDS,
  TOKEN_COMMANDS,
];

export function addManagementCommands(program: Command): void {
  addLoginCommands(program);
  for (const { name, description, rows } of GROUPS) {
    addCommands(program.command(name).description(description), rows);
  }
  addCommands(program, [auditCommand, catalogCommand]);
}
