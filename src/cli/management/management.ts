/**
 * Management from the shell: organizations, keys, users, groups, tokens, usage. Each command is one or a few calls of the management
 * API, and nothing else; it decides nothing by itself and reads no Redis. Exit codes: 0 done, 1 refused or failed,
 * 2 a command line that nobody can run.
 */
import type { Command } from "commander";
import { addAlertCommands } from "./alerts.ts";
import { addAuditCommand } from "./audit.ts";
import { addCatalogCommand } from "./catalog.ts";
import { addGroupCommands } from "./groups.ts";
import { addKeyCommands } from "./keys.ts";
import { addOrganizationCommands } from "./organizations.ts";
import { addLimitCommands } from "./limits.ts";
import { addLoginCommands } from "./login.ts";
import { addRaiseCommands } from "./raises.ts";
import { addRequestCommands } from "./requests.ts";
import { addTokenCommands } from "./tokens.ts";
import { addUsageCommands } from "./usage.ts";
import { addUserCommands } from "./users.ts";
import { addWebhookCommands } from "./webhooks.ts";

export function addManagementCommands(program: Command): void {
  addLoginCommands(program);
  addOrganizationCommands(program);
  addKeyCommands(program);
  addUserCommands(program);
  addGroupCommands(program);
  addLimitCommands(program);
  addRaiseCommands(program);
  addUsageCommands(program);
  addRequestCommands(program);
  addAlertCommands(program);
  addWebhookCommands(program);
  addTokenCommands(program);
  addAuditCommand(program);
  addCatalogCommand(program);
}
