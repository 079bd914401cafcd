/** Schemas of a member's own keys, limits and usage. */
import * as z from "zod";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { changeShape, creationShape, rowsOfMembers } from "../../../shared/settings/table.ts";
import { keyStatus } from "../../../data-path/limits/reports/key-status.ts";
import { answer, count, input, named } from "./fields.ts";
import { ownerReference } from "./owner.ts";
import { pageQuery } from "./page.ts";
import { explainedRequestQuery, requestFilter, requestQuery } from "./requests.ts";
import { usageQuery } from "./usage.ts";

const { name, note, disabled } = KEY_SETTINGS;

export const ownKeyCreation = input("OwnKeyCreation", creationShape(rowsOfMembers(KEY_SETTINGS)));

const ONLY_TRUE = "expected true: only an administrator enables a key again";
/** Without limits: these stay, so that members cannot raise what an administrator has set. */
export const ownKeyChange = input("OwnKeyChange", {
  ...changeShape({ name, note }),
  [disabled.apiName]: z
    .literal(true, { error: ONLY_TRUE })
    .optional()
    .describe("Disables the key permanently."),
});

export const ownKeyQuery = pageQuery(/^key_[0-9a-f-]{36}$/);
export const ownUsageQuery = usageQuery.pick({
  month: true,
  from: true,
  to: true,
  group_by: true,
  top: true,
  order: true,
  health: true,
  model: true,
  key_id: true,
});
const ownerFields = { user_id: true, group_id: true } as const;
export const ownRequestQuery = requestQuery.omit(ownerFields);
export const ownRequestFilter = requestFilter.omit(ownerFields);
export const ownExplainedRequestQuery = explainedRequestQuery.omit(ownerFields);

/** `GET /v1/key`, as the management API shows it. */
export const ownKeyStatus = named("KeyStatus", keyStatus);

export const ownUser = answer("OwnUser", {
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  group: ownerReference(),
  organization: z.strictObject({ id: z.string(), name: z.string(), currency: z.string() }),
  key_count: count().describe("Your API keys, without the key that counts your tokens' requests."),
  most_keys: count().describe("Maximum of your API keys."),
});
