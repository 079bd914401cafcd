/** Schemas of a member's own keys, limits and usage. */
import * as z from "zod";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { changeShape, creationShape } from "../../../shared/settings/table.ts";
import { keyStatus } from "../../../data-path/limits/key-status.ts";
import { answer, count, input, named } from "./fields.ts";
import { ownerReference } from "./owner.ts";
import { pageQuery } from "./page.ts";
import { explainedRequestQuery, requestFilter, requestQuery } from "./requests.ts";
import { usageQuery } from "./usage.ts";

// Members cannot set a key's owner, nor whether an administrator has disabled it.
const { userId: _user, groupId: _group, disabled, ...chosen } = KEY_SETTINGS;
const { name, note } = KEY_SETTINGS;

export const ownKeyCreation = input("OwnKeyCreation", creationShape(chosen));

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
const ofOthers = { user_id: true, group_id: true } as const;
export const ownRequestQuery = requestQuery.omit(ofOthers);
export const ownRequestFilter = requestFilter.omit(ofOthers);
export const ownExplainedRequestQuery = explainedRequestQuery.omit(ofOthers);

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
