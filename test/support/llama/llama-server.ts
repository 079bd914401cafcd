/** llama.cpp's own server before a model of a few megabytes: what a model server really does, in seconds and offline. */
import { mkdir, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findPython, installWheel } from "../../../src/operation/setup/python.ts";
import { createToolContext, type ToolContext } from "../../../src/operation/setup/tool-context.ts";
import { type Child, startChild } from "../child.ts";
import { send } from "../http.ts";
import { createTinyModel, LAYERS } from "./tiny-model.ts";

const INSTEAD = "see that pip reaches its index.";
/** What the wheel runs on. */
const MINIMUM_MINOR = 10;
const VERSION = "2026.10.11549";
const WHEEL = {
  requirement: `xllamacpp==${VERSION}`,
  hashes: [
    // manylinux_2_17 x86_64, aarch64
    "c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261",
    "e2a3e79e775515de4ad197e667f874070446ef9ac9cf2044bc9866bc4c72289e",
  ],
  // Where there is no index, the tests go on without it soon.
  pipArguments: ["--retries", "1", "--timeout", "15"],
  instead: INSTEAD,
};
const FOLDER = `llama-${VERSION}`;
const SERVE = fileURLToPath(new URL("serve.py", import.meta.url));
/** Tokens of one conversation, and how many it holds at a time. */
export const SLOT_TOKENS = 8_192;
const SLOTS = 4;
/** The server takes one that is free. */
const ANY_PORT = 0;

/** What runs the server, or why it cannot be had here. */
export type FoundLlama =
  | { readonly python: string; readonly packages: string; readonly missing: null }
  | { readonly missing: string };

/** What the server says it has done since it started. */
export interface ServerCounts {
  /** Of prompts, without those from its cache. */
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

export interface LlamaServer {
  readonly url: string;
  readonly port: number;
  readonly child: Child;
  counts(): Promise<ServerCounts>;
  /** Whether it generates for anybody. */
  isBusy(): Promise<boolean>;
}

/** From what an earlier run put into `.tools`, else from PyPI. Never throws. `IGW_LLAMA=off` does without. */
export async function ensureLlama(): Promise<FoundLlama> {
  const context = createToolContext();
  if (context.env["IGW_LLAMA"] === "off") return { missing: "IGW_LLAMA is `off`" };
  const python = await findPython(context, MINIMUM_MINOR);
  if (python === null) return { missing: `there is no Python 3.${MINIMUM_MINOR} or newer` };
  const packages = join(context.toolsDir, FOLDER);
  try {
    if (!existsSync(packages)) await installWheel(context, FOLDER, WHEEL);
  } catch (thrown) {
    return { missing: (thrown as Error).message };
  }
  const failure = await tryImport(context, python, packages);
  return failure === null ? { python, packages, missing: null } : { missing: failure };
}

async function tryImport(context: ToolContext, python: string, packages: string): Promise<string | null> {
  const env = { ...context.env, PYTHONPATH: packages };
  const { code, stderr } = await context.run(python, ["-c", "import xllamacpp"], { env, timeoutMs: 60_000 });
  return code === 0 ? null : `the wheel does not run here (${stderr.trim().split("\n").at(-1) ?? ""})`;
}

export interface LlamaOptions {
  /** A free one when left out. */
  readonly port?: number;
  /** Folder for the model's file. */
  readonly dir: string;
  readonly alias: string;
  /** Serves embeddings alone. */
  readonly embeds?: boolean;
  /** Of its model: the more, the slower it writes. */
  readonly layers?: number;
}

/** Resolves when it has loaded its model. */
export async function startLlama(found: FoundLlama, options: LlamaOptions): Promise<LlamaServer> {
  if (found.missing !== null) throw new Error(found.missing);
  const { dir, alias, embeds = false, port = ANY_PORT, layers = LAYERS } = options;
  const settings = { alias, context: SLOT_TOKENS * SLOTS, parallel: SLOTS, embeds };
  const args = [SERVE, await writeModel(dir, layers), String(port), JSON.stringify(settings)];
  const child = startChild(found.python, args, { env: { ...process.env, PYTHONPATH: found.packages } });
  const url = await child.waitForLine("llama.cpp's address", (line) =>
    line.startsWith("http://") ? line : null,
  );
  return {
    url,
    port: Number(new URL(url).port),
    child,
    counts: async () => parseCounts((await send(url, { path: "/metrics" })).text),
    isBusy: async () => (await send(url, { path: "/slots" })).text.includes('"is_processing":true'),
  };
}

async function writeModel(dir: string, layers: number): Promise<string> {
  const path = join(dir, `tiny-${layers}.gguf`);
  if (existsSync(path)) return path;
  await mkdir(dir, { recursive: true });
  await writeFile(path, createTinyModel(layers));
  return path;
}

/** Returns what the server has done in between. */
export function subtractCounts(after: ServerCounts, before: ServerCounts): ServerCounts {
  return {
    promptTokens: after.promptTokens - before.promptTokens,
    cachedTokens: after.cachedTokens - before.cachedTokens,
    outputTokens: after.outputTokens - before.outputTokens,
  };
}

function parseCounts(page: string): ServerCounts {
  const figure = (name: string): number => {
    const found = new RegExp(`^llamacpp:${name} (\\S+)$`, "mu").exec(page);
    if (found === null) throw new Error(`llama.cpp tells no ${name}`);
    return Number(found[1]);
  };
  return {
    promptTokens: figure("prompt_tokens_total"),
    cachedTokens: figure("prompt_tokens_cached_total"),
    outputTokens: figure("tokens_predicted_total"),
  };
}
