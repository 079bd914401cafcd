/**
 * Runs the Lua scripts by hash (EVALSHA); each file is one transition. The text is only sent if Redis does
 * not know it: Redis replies NOSCRIPT before it runs anything, so nothing runs twice.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ClientContext, Cluster, Redis, Result } from "ioredis";
import { programFile } from "../../../shared/host/package-files.ts";
import { checkBlock, checkCallers, isBlock } from "../redis/lua-blocks.ts";
import { resolveMarkers } from "../redis/lua-text.ts";
import {
  compileInput,
  SCRIPTS,
  type ScriptInput,
  type ScriptLayout,
  type ScriptName,
} from "../redis/script-layouts.ts";
import { TextCommand } from "./text-command.ts";

const INCLUDE = /^-- @include ([a-z-]+\.lua)\n/gm;

type ScriptCommands<Context extends ClientContext> = {
  [Name in ScriptName]: (input: ScriptInput<(typeof SCRIPTS)[Name]>) => Result<unknown, Context>;
};

declare module "ioredis" {
  interface RedisCommander<Context> extends ScriptCommands<Context> {}
}

interface Script {
  readonly lua: string;
  readonly sha: string;
  readonly format: (luaOrSha: string, input: object) => string[];
}

/** Scripts by layout: each is read once, for all clients of the process. */
const LOADED = new Map<ScriptLayout, Script>();

/**
 * Adds the scripts to a client as commands. They bypass ioredis's own scripts and automatic pipelines, which
 * build an object of all commands for each batch and take a third more CPU time.
 */
export function addScripts(client: Redis | Cluster): void {
  for (const [name, layout] of Object.entries<ScriptLayout>(SCRIPTS)) {
    const script = LOADED.get(layout) ?? loadScript(layout);
    // The first command sends the text, later ones the hash.
    let isSent = false;
    const run = (input: object): Promise<unknown> => {
      const sent = runScript(client, script, { input, isSent });
      isSent = true;
      return sent;
    };
    Object.defineProperty(client, name, { value: run });
  }
}

function loadScript(layout: ScriptLayout): Script {
  const lua = readScript(layout.file);
  const sha = createHash("sha1").update(lua).digest("hex");
  const script = { lua, sha, format: compileInput(layout) };
  LOADED.set(layout, script);
  return script;
}

function runScript(
  client: Redis | Cluster,
  { lua, sha, format }: Script,
  { input, isSent }: { readonly input: object; readonly isSent: boolean },
): Promise<unknown> {
  const sent = isSent
    ? send(client, "evalsha", format(sha, input))
    : send(client, "eval", format(lua, input));
  // Keep the number of promises per reply constant: see in-reply-order.ts.
  return sent.catch((error: unknown) => {
    // A different node, or a restarted one.
    if (error instanceof Error && error.message.startsWith("NOSCRIPT")) {
      return send(client, "eval", format(lua, input));
    }
    throw error;
  });
}

function send(client: Redis | Cluster, name: "eval" | "evalsha", given: string[]): Promise<unknown> {
  const command = new TextCommand(name, given);
  void client.sendCommand(command);
  return command.promise;
}

const LAYOUTS = new Map<string, ScriptLayout>(
  Object.values<ScriptLayout>(SCRIPTS).map((layout) => [layout.file, layout]),
);

/**
 * Reads a script with its markers resolved. Includes are replaced by their files, recursively; without
 * `resolve` they stay as lines.
 *
 * Most included files declare functions and constants. The others are blocks, which run where they are included
 * because Redis would create a function again in each run. A block's header has its contract: `Reads`, the
 * caller's locals that it reads, `Changes`, those that it assigns or adds to. Its own locals end with it.
 * @throws Error if a block or a script that includes it breaks the contract.
 */
export function readScript(file: string, { resolve = true } = {}): string {
  const text = readFileSync(programFile(`data-path/store/lua/${file}`), "utf8");
  const layout = LAYOUTS.get(file) ?? null;
  const lua = resolveMarkers(text, layout);
  if (!resolve) return lua;
  const whole = lua.replace(INCLUDE, (_line, included: string) => readScript(`include/${included}`));
  if (layout !== null) checkCallers(file, whole);
  if (!isBlock(text)) return whole;
  checkBlock(file, lua);
  return `do\n${whole}end\n`;
}
