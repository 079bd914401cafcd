/** The clients that the tests of this directory prove, each with its version: the current majors, and at night the ones before. */
import { readFileSync } from "node:fs";
import { AGENTS } from "../support/agents.ts";
import { APPLICATIONS } from "../support/applications.ts";
import { CLAUDE_CODE_VERSION, PREVIOUS_CLAUDE_CODE_VERSION } from "../support/claude-code.ts";
import { CODEX_VERSION, PREVIOUS_CODEX_VERSION } from "../support/codex.ts";

export interface Client {
  readonly name: string;
  readonly version: string;
}

export const CLIENTS = {
  openai: npmClient("openai"),
  openai6: npmClient("openai", "openai-6"),
  anthropic: npmClient("@anthropic-ai/sdk"),
  anthropic0: npmClient("@anthropic-ai/sdk", "anthropic-sdk-0"),
  vercelAi: npmClient("ai"),
  vercelAi6: npmClient("ai", "ai-6"),
  langchainOpenai: npmClient("@langchain/openai"),
  langchainOpenai0: npmClient("@langchain/openai", "@langchain/openai", "langchain-0/package.json"),
  langchainAnthropic: npmClient("@langchain/anthropic"),
  langchainAnthropic0: npmClient("@langchain/anthropic", "@langchain/anthropic", "langchain-0/package.json"),
  agents: npmClient("@openai/agents"),
  agents019: npmClient("@openai/agents", "openai-agents-0.19"),
  pythonOpenai: pythonClient("openai"),
  pythonOpenai2: pythonClient("openai", "openai-2"),
  pythonAnthropic: pythonClient("anthropic"),
  pythonAnthropic1: pythonClient("anthropic", "anthropic-1"),
  pythonAnthropic0: pythonClient("anthropic", "anthropic-0"),
  pythonLangchainOpenai: pythonClient("langchain-openai"),
  pythonLangchainOpenai0: pythonClient("langchain-openai", "langchain-0"),
  pythonLangchainAnthropic: pythonClient("langchain-anthropic"),
  pythonLangchainAnthropic0: pythonClient("langchain-anthropic", "langchain-0"),
  claudeCode: { name: "Claude Code", version: CLAUDE_CODE_VERSION },
  previousClaudeCode: { name: "Claude Code", version: PREVIOUS_CLAUDE_CODE_VERSION },
  codex: { name: "Codex", version: CODEX_VERSION },
  previousCodex: { name: "Codex", version: PREVIOUS_CODEX_VERSION },
  aider: AGENTS.aider,
  cline: AGENTS.cline,
  continueCli: AGENTS.continueCli,
  opencode: AGENTS.opencode,
  n8n: APPLICATIONS.n8n,
  openWebui: APPLICATIONS.openWebui,
} satisfies Record<string, Client>;

type Manifest = Readonly<Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>>;

function npmClient(name: string, installedAs = name, manifest = "package.json"): Client {
  const { dependencies, devDependencies } = JSON.parse(read(manifest)) as Partial<Manifest>;
  const version = { ...dependencies, ...devDependencies }[installedAs]?.replace(/^npm:.+@/u, "");
  if (version === undefined) throw new Error(`${manifest} does not name ${installedAs}`);
  return { name: `\`${name}\``, version };
}

/** @param older Name of the `requirements-NAME.txt` that pins it. */
function pythonClient(name: string, older: string | null = null): Client {
  const file = older === null ? "requirements.txt" : `requirements-${older}.txt`;
  const version = new RegExp(`^${name}==(.+)$`, "mu").exec(read(`python/${file}`))?.[1];
  if (version === undefined) throw new Error(`${file} does not pin ${name}`);
  return { name: `\`${name}\` (Python)`, version };
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}
