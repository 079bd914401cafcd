/**
 * The Lua scripts: one file, one transition, run by its hash (EVALSHA). The whole text is sent only when Redis does not
 * know it yet; Redis answers NOSCRIPT before it runs anything, so nothing ever runs twice.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ClientContext, Cluster, Redis, Result } from "ioredis";
import { programFile } from "../../host/package-files.ts";
import { internalWait } from "../../time/internal-waits.ts";
import { formatFiguresLua } from "../redis/figures-lua.ts";
import { TextCommand } from "./text-command.ts";

const INCLUDE = /^-- @include ([a-z-]+\.lua)\n/gm;
const FIGURES = /^-- @figures ([a-z-]+)\n/gm;
const WAIT = /(?<= = )(\d+) -- @wait$/gm;

interface ScriptDefinition {
  readonly file: string;
  /** Left out where it varies: the number is then the first argument. */
  readonly numberOfKeys?: number;
}

/** Commands of the client, by name. `test/store/scripts.test.ts` holds the numbers against the header of each file. */
export const SCRIPTS = {
  igwAdmit: { file: "admit.lua", numberOfKeys: 8 },
  igwBeginUpload: { file: "begin-upload.lua", numberOfKeys: 2 },
  igwEndUpload: { file: "end-upload.lua", numberOfKeys: 2 },
  igwReadBuckets: { file: "read-buckets.lua" },
  igwHold: { file: "hold.lua", numberOfKeys: 7 },
  igwCharge: { file: "charge.lua", numberOfKeys: 12 },
  igwChargeBrief: { file: "charge-brief.lua" },
  igwRenew: { file: "renew.lua" },
  igwClose: { file: "close.lua", numberOfKeys: 11 },
  igwForget: { file: "forget.lua" },
  igwGiveTokens: { file: "give-tokens.lua", numberOfKeys: 1 },
  igwMarkLogged: { file: "mark-logged.lua" },
  igwListOverdue: { file: "list-overdue.lua", numberOfKeys: 1 },
  igwCorrect: { file: "correct.lua", numberOfKeys: 9 },
  igwRaiseUsage: { file: "raise-usage.lua", numberOfKeys: 5 },
  igwReadLimits: { file: "read-limits.lua", numberOfKeys: 2 },
  igwBeginWindows: { file: "begin-windows.lua", numberOfKeys: 1 },
  igwSeedWindows: { file: "seed-windows.lua", numberOfKeys: 3 },
  igwFinishWindows: { file: "finish-windows.lua", numberOfKeys: 2 },
  igwAnnounce: { file: "announce.lua", numberOfKeys: 1 },
  igwSetLimits: { file: "set-limits.lua" },
  igwSetOrganization: { file: "set-organization.lua" },
  igwDeleteOrganization: { file: "delete-organization.lua" },
  igwClaimName: { file: "claim-name.lua", numberOfKeys: 1 },
  igwReleaseName: { file: "release-name.lua", numberOfKeys: 1 },
  igwCreateKey: { file: "create-key.lua" },
  igwDeleteKey: { file: "delete-key.lua" },
  igwCreateOwner: { file: "create-owner.lua" },
  igwChangeOwner: { file: "change-owner.lua" },
  igwDeleteOwner: { file: "delete-owner.lua" },
  igwEndOwners: { file: "end-owners.lua" },
  igwDeleteToken: { file: "delete-token.lua", numberOfKeys: 3 },
  igwClaimDelivery: { file: "claim-delivery.lua", numberOfKeys: 2 },
  igwRenewDelivery: { file: "renew-delivery.lua", numberOfKeys: 1 },
  igwFinishDelivery: { file: "finish-delivery.lua" },
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

interface Script {
  readonly lua: string;
  readonly sha: string;
  /** Null: the number is the first argument. */
  readonly numberOfKeys: string | null;
  /** Its text was sent: what comes behind it can go by the hash. */
  isSent: boolean;
}

/**
 * Gives a client the scripts as commands. They are sent as commands of their own: ioredis's scripts and automatic
 * pipelines, which make an object of all commands there are for each batch, take a third more CPU time.
 */
export function addScripts(client: Redis | Cluster): void {
  for (const [name, definition] of Object.entries<ScriptDefinition>(SCRIPTS)) {
    const script = loadScript(definition);
    const run = (...keysAndArguments: string[]): Promise<unknown> =>
      runScript(client, script, keysAndArguments);
    Object.defineProperty(client, name, { value: run });
  }
}

function loadScript({ file, numberOfKeys }: ScriptDefinition): Script {
  const lua = readScript(file);
  const sha = createHash("sha1").update(lua).digest("hex");
  return { lua, sha, numberOfKeys: numberOfKeys === undefined ? null : String(numberOfKeys), isSent: false };
}

function runScript(
  client: Redis | Cluster,
  script: Script,
  keysAndArguments: readonly string[],
): Promise<unknown> {
  const { lua, sha, isSent } = script;
  script.isSent = true;
  const sent = isSent
    ? send(client, "evalsha", formatArguments(sha, script, keysAndArguments))
    : send(client, "eval", formatArguments(lua, script, keysAndArguments));
  // Each reply has as many promises: see in-reply-order.ts.
  return sent.catch((error: unknown) => {
    // Another node, or one that was started again.
    if (error instanceof Error && error.message.startsWith("NOSCRIPT")) {
      return send(client, "eval", formatArguments(lua, script, keysAndArguments));
    }
    throw error;
  });
}

function formatArguments(
  luaOrSha: string,
  { numberOfKeys }: Script,
  keysAndArguments: readonly string[],
): string[] {
  return numberOfKeys === null
    ? [luaOrSha, ...keysAndArguments]
    : [luaOrSha, numberOfKeys, ...keysAndArguments];
}

function send(client: Redis | Cluster, name: "eval" | "evalsha", given: string[]): Promise<unknown> {
  const command = new TextCommand(name, given);
  void client.sendCommand(command);
  return command.promise;
}

/** A script with its figures and waits, and the files that it includes unless `resolve` is false. */
export function readScript(file: string, { resolve = true } = {}): string {
  const lua = readFileSync(programFile(`store/lua/${file}`), "utf8")
    .replace(FIGURES, (_line, name: string) => formatFiguresLua(name))
    .replace(WAIT, (_wait, ms: string) => String(internalWait(Number(ms))));
  // Included files include nothing.
  return resolve
    ? lua.replace(INCLUDE, (_line, included: string) => readScript(`include/${included}`, { resolve: false }))
    : lua;
}
