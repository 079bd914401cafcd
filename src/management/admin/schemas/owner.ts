import * as z from "zod";
import { record, timestamp } from "../../../shared/settings/input-schemas.ts";
import type { OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import { answerShape, changeShape, creationShape } from "../../../shared/settings/table.ts";
import { USER_GROUP_SETTINGS } from "../../../shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../../shared/settings/user.ts";
import {
  answer,
  choice,
  count,
  input,
  lastUsedAt,
  microcents,
  month,
  named,
  text,
  textOrNull,
} from "./fields.ts";
import { arrangedFields, arrangedTotals } from "./arranged.ts";
import type { KeyState } from "../../../shared/settings/state.ts";
import { tightestLimit } from "./limit.ts";
import { pageFields, pageShape } from "./page.ts";

/** `next` of a list is an id, of a search a position in the search index. */
const CURSOR = /^[A-Za-z0-9_-]{1,400}$/;

const searchOf = (description: string) => text(100).optional().describe(description);

/** Filter of a list by one user or one group. */
export const ownerIdFilter = (kind: OwnerKind, about: string) =>
  z
    .string()
    .regex(new RegExp(`^${kind}_[0-9a-f-]{36}$`), { error: `expected the id of a ${kind}` })
    .optional()
    .describe(about);

/** Name of the user or group that requests count for. */
export const formerOwnerName = () =>
  textOrNull("Name, also of a deleted one while its figures are kept; null after that, or none.");

/** Names that a report's title needs: its rows may not have them. */
export const filterNames = () =>
  z
    .record(z.string(), z.string())
    .describe("Names of the key, user and group of the filters by id, also of deleted ones.");

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

/** Fields of rows of a sorted list. */
const listedFigures = <const States extends readonly [KeyState, ...KeyState[]]>(states: States) => ({
  state: z
    .enum(states)
    .optional()
    .describe("With `sort`: `cap_reached` and `disabled` reject requests that cost money."),
  month: month().optional(),
  spent_microcents: microcents().optional().describe("Spent in `month`. Only with `sort`."),
  last_used_at: lastUsedAt().optional(),
  tightest_limit: tightestLimit
    .nullable()
    .optional()
    .describe("With `sort`: its most used limit, a reached cap first. Null: none."),
});

/** A group has no other states. */
const GROUP_STATES = ["active", "cap_reached"] as const;
const USER_STATES = ["active", "cap_reached", "disabled"] as const;

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
  ...listedFigures(USER_STATES),
  created_at: timestamp(),
});

export const userQuery = record({
  ...pageFields(CURSOR),
  ...arrangedFields(USER_STATES),
  search: searchOf(
    "Only users with this id, or with a word beginning with this (not case-sensitive) among the first ten of their name or email address, in the order of these words. A page with a `next` can then have fewer than `limit`. With `sort`: anywhere in name, email address or note.",
  ),
  group_id: ownerIdFilter("group", "Only the users of this group."),
});
export const userPage = named("UserPage", z.strictObject({ ...pageShape(user), ...arrangedTotals() }));

export const groupCreation = input("GroupCreation", creationShape(USER_GROUP_SETTINGS));
export const groupChange = input("GroupChange", changeShape(USER_GROUP_SETTINGS));

export const group = answer("Group", {
  id: z.string().meta({ examples: ["group_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  organization_id: z.string(),
  ...answerShape(USER_GROUP_SETTINGS),
  user_count: count().describe("Users of the group."),
  key_count: keyCount(),
  ...listedFigures(GROUP_STATES),
  created_at: timestamp(),
});

export const groupQuery = record({
  ...pageFields(CURSOR),
  ...arrangedFields(GROUP_STATES),
  search: searchOf(
    "Only groups with this id, or with a word beginning with this (not case-sensitive) among the first ten of their name, in the order of these words. With `sort`: anywhere in name or note.",
  ),
});
export const groupPage = named("GroupPage", z.strictObject({ ...pageShape(group), ...arrangedTotals() }));
