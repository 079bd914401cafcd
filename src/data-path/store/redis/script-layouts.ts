/**
 * Lua scripts with the names of their keys and arguments, in order. Both sides are made from this table:
 * `compileInput` turns a caller's named values into a list, and `-- @input` in a script becomes locals that
 * unpack the list (`lua-text.ts`). So positions occur nowhere else.
 */
import { compileExpression } from "../../../shared/text/compile-expression.ts";

/** Type of an argument in Lua: a text, a number, or whether it is set. */
type ArgumentKind = "text" | "number" | "flag";

export interface ScriptLayout {
  readonly file: string;
  readonly keys: readonly string[];
  readonly arguments: Readonly<Record<string, ArgumentKind>>;
  /** True if any number of keys follows the named ones. */
  readonly furtherKeys?: true;
  /** True if any number of arguments follows the named ones. */
  readonly furtherArguments?: true;
}

const CHARGED = ["openRequests", "usage", "inflight", "recent", "keyRecord", "organization"] as const;
const IN_MONTH = { month: "text", monthStartMs: "number", monthEndMs: "number" } as const;

/** Commands of the client, by name. */
export const SCRIPTS = {
  igwAdmit: {
    file: "admit.lua",
    keys: [
      "keyRecord",
      "organization",
      "requestBucket",
      "countBucket",
      "spend",
      "inflight",
      "refused",
      "openRequests",
    ],
    arguments: {
      keyId: "text",
      presentedHash: "text",
      monthStartMs: "number",
      monthEndMs: "number",
      bucketName: "text",
      metered: "flag",
      knownVersion: "text",
      wantedGroupId: "text",
    },
    furtherArguments: true,
  },
  igwReadBuckets: { file: "read-buckets.lua", keys: [], arguments: {}, furtherKeys: true },
  igwOpenRecord: {
    file: "open-record.lua",
    keys: ["request", "openRequests", "keyRecord", "organization", "inflight", "combinations"],
    arguments: {
      requestId: "text",
      keyId: "text",
      month: "text",
      day: "text",
      model: "text",
      route: "text",
      worstText: "text",
      floorText: "text",
      floorInput: "text",
      expiresAtMs: "text",
      tags: "text",
      price: "text",
      currency: "text",
      owners: "text",
      sessionName: "text",
      isSessionCapped: "flag",
      sessionBudget: "text",
    },
    furtherArguments: true,
  },
  igwCharge: {
    file: "charge.lua",
    keys: ["request", ...CHARGED, "combinations"],
    arguments: { listText: "text", entry: "text" },
  },
  igwChargeSingle: {
    file: "charge-single.lua",
    keys: [...CHARGED, "combinations"],
    arguments: { sharedText: "text" },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwRenew: {
    file: "renew.lua",
    keys: ["openRequests", "organization"],
    arguments: {},
    furtherKeys: true,
    furtherArguments: true,
  },
  igwClose: {
    file: "close.lua",
    keys: ["request", ...CHARGED],
    arguments: { requestId: "text", keyId: "text", month: "text", day: "text", expiresAtMs: "text" },
  },
  igwDeleteRequests: { file: "delete-requests.lua", keys: [], arguments: {}, furtherKeys: true },
  igwGiveTokens: {
    file: "give-tokens.lua",
    keys: ["organization"],
    arguments: {},
    furtherArguments: true,
  },
  igwMarkLogged: {
    file: "mark-logged.lua",
    keys: ["openRequests"],
    arguments: { mark: "flag", seq: "text" },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwListOverdue: { file: "list-overdue.lua", keys: ["openRequests"], arguments: { limit: "text" } },
  igwCorrect: {
    file: "correct.lua",
    keys: ["organization", "keyRecord", "spend", "usage", "marker", "audit"],
    arguments: {
      dayStartMs: "number",
      dayEndMs: "number",
      month: "text",
      keyId: "text",
      amount: "text",
      expiresAtMs: "text",
      auditEntry: "text",
      stored: "text",
      owners: "text",
    },
  },
  igwRaiseUsage: {
    file: "raise-usage.lua",
    keys: ["usage", "openRequests", "combinations", "organization"],
    arguments: {
      keyId: "text",
      model: "text",
      expiresAtMs: "text",
      owners: "text",
      day: "text",
      loggedRows: "number",
    },
    furtherArguments: true,
  },
  igwBeginSums: {
    file: "begin-sums.lua",
    keys: ["organization", "usage", "sums"],
    arguments: { day: "text", dayEndMs: "number", mark: "text", expiresAtMs: "text" },
  },
  igwStoreSums: {
    file: "store-sums.lua",
    keys: ["sums"],
    arguments: { mark: "text", expiresAtMs: "text" },
    furtherArguments: true,
  },
  igwReadLimits: {
    file: "read-limits.lua",
    keys: ["organization", "keyRecord"],
    arguments: { keyId: "text", owners: "text", ...IN_MONTH },
  },
  igwBeginWindows: {
    file: "begin-windows.lua",
    keys: ["organization"],
    arguments: {},
    furtherArguments: true,
  },
  igwSeedWindows: {
    file: "seed-windows.lua",
    keys: ["organization", "usage", "seed"],
    arguments: { period: "text", day: "text" },
    furtherArguments: true,
  },
  igwFinishWindows: {
    file: "finish-windows.lua",
    keys: ["organization", "seed"],
    arguments: { period: "text" },
  },
  igwAnnounce: {
    file: "announce.lua",
    keys: ["workers"],
    arguments: { worker: "text", countsForMs: "number" },
  },
  igwSetLimits: {
    file: "set-limits.lua",
    keys: ["keyRecord", "requestBucket", "countBucket", "organization", "audit"],
    arguments: {
      expectedVersion: "text",
      keyId: "text",
      ...IN_MONTH,
      auditEntry: "text",
      previousLists: "number",
    },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwSetOrganization: {
    file: "set-organization.lua",
    keys: ["organization", "openRequests", "audit"],
    arguments: { expectedVersion: "text", ...IN_MONTH, auditEntry: "text" },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwDeleteOrganization: {
    file: "delete-organization.lua",
    keys: ["organization", "outbox", "audit"],
    arguments: { expectedVersion: "text", expiresAtMs: "text", auditEntry: "text" },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwClaimName: {
    file: "claim-name.lua",
    keys: ["names"],
    arguments: { name: "text", organizationId: "text", deletedEntry: "text" },
  },
  igwReleaseName: {
    file: "release-name.lua",
    keys: ["names"],
    arguments: { name: "text", organizationId: "text", beforeUs: "number" },
  },
  igwCreateKey: {
    file: "create-key.lua",
    keys: ["organization", "keyRecord", "keyList", "audit"],
    arguments: { keyId: "text", auditEntry: "text", namedBy: "text", replaced: "text", most: "number" },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwDeleteKey: {
    file: "delete-key.lua",
    keys: ["keyRecord", "keyList", "requestBucket", "countBucket", "audit"],
    arguments: { keyId: "text", expiresAtMs: "text", auditEntry: "text", expectedVersion: "text" },
    furtherKeys: true,
  },
  igwCreateOwner: {
    file: "create-owner.lua",
    keys: ["organization", "record", "list", "foundBy", "audit", "byIdentity"],
    arguments: { id: "text", most: "number", auditEntry: "text", identity: "text", texts: "number" },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwChangeOwner: {
    file: "change-owner.lua",
    keys: ["record", "foundBy", "audit", "organization"],
    arguments: {
      expectedVersion: "text",
      id: "text",
      previousLists: "number",
      auditEntry: "text",
      removedTexts: "number",
      newTexts: "number",
      ...IN_MONTH,
    },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwDeleteOwner: {
    file: "delete-owner.lua",
    keys: ["record", "list", "foundBy", "audit", "itsKeys", "itsUsers", "byIdentity"],
    arguments: {
      expectedVersion: "text",
      id: "text",
      expiresAtMs: "text",
      isWithoutKeys: "flag",
      auditEntry: "text",
      identity: "text",
    },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwEndOwners: {
    file: "end-owners.lua",
    keys: ["list", "foundBy", "byIdentity"],
    arguments: { expiresAtMs: "text" },
    furtherKeys: true,
    furtherArguments: true,
  },
  igwAddAudit: {
    file: "add-audit.lua",
    keys: ["audit"],
    arguments: { auditEntry: "text" },
  },
  igwDeleteToken: {
    file: "delete-token.lua",
    keys: ["tokenRecord", "tokenList", "audit"],
    arguments: { tokenId: "text", auditEntry: "text" },
  },
  igwClaimDelivery: {
    file: "claim-delivery.lua",
    keys: ["courier", "outbox"],
    arguments: { owner: "text", leaseMs: "number" },
  },
  igwRenewDelivery: {
    file: "renew-delivery.lua",
    keys: ["courier"],
    arguments: { owner: "text", leaseMs: "number" },
  },
  igwFinishDelivery: {
    file: "finish-delivery.lua",
    keys: ["courier", "outbox", "deliveries"],
    arguments: {
      owner: "text",
      entry: "text",
      outcome: "text",
      waitMs: "number",
      progress: "text",
      channel: "text",
      shown: "text",
      expiresAtMs: "text",
    },
    furtherKeys: true,
  },
  igwListDeliveries: {
    file: "list-deliveries.lua",
    keys: ["outbox"],
    arguments: {},
    furtherKeys: true,
  },
  igwRaiseAlert: {
    file: "raise-alert.lua",
    keys: ["organization", "list", "outbox", "fired"],
    arguments: { once: "text", expiresAtMs: "text" },
    furtherArguments: true,
  },
  igwRedeliverAlert: {
    file: "redeliver-alert.lua",
    keys: ["outbox", "deliveries"],
    arguments: { channels: "text", shown: "text", expiresAtMs: "text" },
    furtherKeys: true,
    furtherArguments: true,
  },
} as const satisfies Record<string, ScriptLayout>;

type Scripts = typeof SCRIPTS;
export type ScriptName = keyof Scripts;

type Further<Layout, Member extends string> =
  Layout extends Readonly<Record<Member, true>> ? { readonly [Name in Member]: readonly string[] } : unknown;

/** Input of a script: keys and arguments by name. */
export type ScriptInput<Layout extends ScriptLayout> = {
  readonly [Name in Layout["keys"][number]]: string;
} & {
  readonly [Name in keyof Layout["arguments"]]: Layout["arguments"][Name] extends "flag" ? boolean : string;
} & Further<Layout, "furtherKeys"> &
  Further<Layout, "furtherArguments">;

/** Compiles a function that returns the arguments of EVAL or EVALSHA: text or hash, number of keys, keys, arguments. */
export function compileInput(layout: ScriptLayout): (luaOrSha: string, input: object) => string[] {
  const { keys, arguments: named, furtherKeys, furtherArguments } = layout;
  const count =
    furtherKeys === true ? `String(${keys.length} + input.furtherKeys.length)` : `"${keys.length}"`;
  const items = [
    "luaOrSha",
    count,
    ...keys.map((name) => `input.${name}`),
    ...(furtherKeys === true ? ["...input.furtherKeys"] : []),
    ...Object.entries(named).map(([name, kind]) =>
      kind === "flag" ? `input.${name} ? "1" : ""` : `input.${name}`,
    ),
    ...(furtherArguments === true ? ["...input.furtherArguments"] : []),
  ];
  return compileExpression(["luaOrSha", "input"], `[${items.join(", ")}]`) as (
    luaOrSha: string,
    input: object,
  ) => string[];
}
