import * as z from "zod";
import { record, timestamp } from "../../../shared/settings/input-schemas.ts";
import type { OwnerKind } from "../../../data-path/store/types/owner-kinds.ts";
import { answerShape, changeShape, creationShape } from "../../../shared/settings/table.ts";
import { USER_GROUP_SETTINGS } from "../../../shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../../shared/settings/user.ts";
import { answer, choice, count, input, text, textOrNull } from "./fields.ts";
import { tightestLimit } from "./limit.ts";
import { pageFields, pageOf } from "./page.ts";

/** `next` of a list is an id, of a search a position in the search index. */
const CURSOR = /^[A-Za-z0-9_-]{1,400}$/;

const searchOf = (what: string) => text(100).optional().describe(what);

/** Filter of a list by one user or one group. */
export const ownerIdFilter = (kind: OwnerKind, about: string) =>
  z
    .string()
    .regex(new RegExp(`^${kind}_[0-9a-f-]{36}$`), { error: `expected the id of a ${kind}` })
    .optional()
    .describe(about);

/** Name of the user or group of requests. */
export const formerOwnerName = () =>
  textOrNull("Name, also of a deleted one while its figures are kept; null after that, or none.");

/** Handling of the keys of a deleted owner. */
export const ownerDeletionQuery = record({
  keys: choice(["keep", "delete"])
    .optional()
    .describe("`delete`: API keys that name it are deleted first. Default: they continue without it."),
});

export const userCreation = input("UserCreation", creationShape(USER_SETTINGS));
export const userChange = input("UserChange", changeShape(USER_SETTINGS));

/** Reference with a name for people. */
export const ownerReference = () => z.strictObject({ id: z.string(), name: z.string() }).nullable();

const include = () =>
  choice(["tightest_limit"]).optional().describe("`tightest_limit`: adds it to each entry.");

const tightest = () =>
  tightestLimit
    .nullable()
    .optional()
    .describe(
      "Its own limit that is nearest to its end, a reached cap first. Null: it has none. Omitted: not requested.",
    );

const keyCount = () => count().describe("API keys that name it.");

export const user = answer("User", {
  id: z.string().meta({ examples: ["user_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  organization_id: z.string(),
  ...answerShape(USER_SETTINGS),
  group: ownerReference().describe("The group of `group_id`, with its name."),
  external: z
    .strictObject({ issuer: z.string(), subject: z.string() })
    .nullable()
    .describe("The user's identity at the identity provider; null: none. Read-only."),
  key_count: keyCount(),
  tightest_limit: tightest(),
  created_at: timestamp(),
});

export const userQuery = record({
  ...pageFields(CURSOR),
  search: searchOf(
    "Only those whose name or email address has this at the beginning of one of its first ten words, regardless of case, in the order of what follows there; or whose id it is. A page with a `next` may then hold fewer than `limit`.",
  ),
  group_id: ownerIdFilter("group", "Only the users of this group."),
  include: include(),
});
export const userPage = pageOf("UserPage", user);

export const groupCreation = input("GroupCreation", creationShape(USER_GROUP_SETTINGS));
export const groupChange = input("GroupChange", changeShape(USER_GROUP_SETTINGS));

export const group = answer("Group", {
  id: z.string().meta({ examples: ["group_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  organization_id: z.string(),
  ...answerShape(USER_GROUP_SETTINGS),
  user_count: count().describe("Users of the group."),
  key_count: keyCount(),
  tightest_limit: tightest(),
  created_at: timestamp(),
});

export const groupQuery = record({
  ...pageFields(CURSOR),
  search: searchOf(
    "Only those whose name has this at the beginning of one of its first ten words, regardless of case, in the order of what follows there; or whose id it is.",
  ),
  include: include(),
});
export const groupPage = pageOf("GroupPage", group);
