/**
 * The Lua scripts: one file, one transition, run by its hash (EVALSHA). ioredis sends the whole text only when a
 * connection or Redis does not know it yet; Redis answers NOSCRIPT before it runs anything, so nothing ever runs twice.
 */
import { readFileSync } from "node:fs";
import type { ClientContext, Result } from "ioredis";

const LUA = new URL("../lua/", import.meta.url);
const INCLUDE = /^-- @include ([a-z-]+\.lua)\n/gm;

interface ScriptDefinition {
  readonly file: string;
  /** Left out where it varies: the number is then the first argument. */
  readonly numberOfKeys?: number;
}

/** Commands of the client, by name. `test/store/scripts.test.ts` holds the numbers against the header of each file. */
export const SCRIPTS = {
  igwAdmit: { file: "admit.lua", numberOfKeys: 7 },
  igwReadBuckets: { file: "read-buckets.lua" },
  igwHold: { file: "hold.lua", numberOfKeys: 7 },
  igwCharge: { file: "charge.lua", numberOfKeys: 12 },
  igwRenew: { file: "renew.lua" },
  igwClose: { file: "close.lua", numberOfKeys: 11 },
  igwForget: { file: "forget.lua" },
  igwListOverdue: { file: "list-overdue.lua", numberOfKeys: 1 },
  igwCorrect: { file: "correct.lua", numberOfKeys: 9 },
  igwRaiseUsage: { file: "raise-usage.lua", numberOfKeys: 4 },
  igwRaiseSchema: { file: "raise-schema.lua", numberOfKeys: 1 },
  igwAnnounce: { file: "announce.lua", numberOfKeys: 1 },
  igwSetLimits: { file: "set-limits.lua", numberOfKeys: 9 },
  igwSetOrganization: { file: "set-organization.lua" },
  igwCreateKey: { file: "create-key.lua", numberOfKeys: 4 },
  igwDeleteKey: { file: "delete-key.lua", numberOfKeys: 5 },
  igwDeleteToken: { file: "delete-token.lua", numberOfKeys: 3 },
  igwClaimDelivery: { file: "claim-delivery.lua", numberOfKeys: 2 },
  igwRenewDelivery: { file: "renew-delivery.lua", numberOfKeys: 1 },
  igwFinishDelivery: { file: "finish-delivery.lua", numberOfKeys: 4 },
  igwListDeliveries: { file: "list-deliveries.lua" },
  igwRedeliverAlert: { file: "redeliver-alert.lua" },
} as const satisfies Record<string, ScriptDefinition>;

export type ScriptName = keyof typeof SCRIPTS;

type ScriptCommands<Context extends ClientContext> = {
  [Name in ScriptName]: (...keysAndArguments: string[]) => Result<unknown, Context>;
};

declare module "ioredis" {
  interface RedisCommander<Context> extends ScriptCommands<Context> {}
}

/** What ioredis's `scripts` option takes. */
export function loadScripts(): Record<string, { lua: string; numberOfKeys?: number }> {
  return Object.fromEntries(
    Object.entries(SCRIPTS).map(([name, definition]: [string, ScriptDefinition]) => {
      const lua = readScript(definition.file);
      const { numberOfKeys } = definition;
      return [name, numberOfKeys === undefined ? { lua } : { lua, numberOfKeys }];
    }),
  );
}

/** A script with the files that it includes put in their places; as it stands when `resolve` is false. */
export function readScript(file: string, { resolve = true } = {}): string {
  const lua = readFileSync(new URL(file, LUA), "utf8");
  // Included files include nothing.
  return resolve
    ? lua.replace(INCLUDE, (_line, included: string) => readScript(`include/${included}`, { resolve: false }))
    : lua;
}
