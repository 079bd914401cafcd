/** Chat and workflow applications, installed from their registries and run headless, with a home of their own. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Child, startChild } from "./child.ts";
import { findFreePort } from "./free-port.ts";
import { send } from "./http.ts";
import {
  ensureNodeProgram,
  ensurePythonProgram,
  type FoundProgram,
  isolatedEnvironment,
} from "./packaged-program.ts";
import { waitFor } from "./wait.ts";

/** They create a database and load about a thousand modules before their first request. */
const START_TIMEOUT_MS = 280_000;
const N8N_VERSION = "2.40.7";
const N8N_NODE = 24;
const OPEN_WEBUI_VERSION = "0.12.4";

export const APPLICATIONS = {
  n8n: {
    name: "n8n",
    version: N8N_VERSION,
    ensure: async (): Promise<FoundProgram> => {
      if (Number.parseInt(process.versions.node, 10) < N8N_NODE) {
        return { path: null, missing: `needs Node ${N8N_NODE}` };
      }
      return ensureNodeProgram({
        name: `n8n-${N8N_VERSION}`,
        variable: "IGW_N8N",
        program: "node_modules/.bin/n8n",
        requirement: `n8n@${N8N_VERSION}`,
        scriptsOf: ["sqlite3", "isolated-vm"],
      });
    },
  },
  openWebui: {
    name: "Open WebUI",
    version: OPEN_WEBUI_VERSION,
    ensure: () =>
      ensurePythonProgram({
        name: `open-webui-${OPEN_WEBUI_VERSION}`,
        variable: "IGW_OPEN_WEBUI",
        program: "bin/open-webui",
        requirement: `open-webui==${OPEN_WEBUI_VERSION}`,
        trial: "--help",
      }),
  },
} as const;

interface ApplicationOptions {
  readonly program: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

interface N8nOptions extends Omit<ApplicationOptions, "apiKey"> {
  /** API keys by the name of their credential. */
  readonly apiKeys: Readonly<Record<string, string>>;
  readonly prompt: string;
}

/** A workflow's credential, and whether its model node uses the responses API. */
export interface Workflow {
  readonly credential: string;
  readonly usesResponses: boolean;
}

export interface N8n {
  /** Runs a workflow of a trigger and a language model, and returns its output. */
  run(workflow: Workflow): Promise<string>;
  close(): Promise<void>;
}

/** Sets n8n up with a credential for each API key, and a workflow for each credential and route. */
export async function openN8n(options: N8nOptions): Promise<N8n> {
  const home = await mkdtemp(join(tmpdir(), "igw-n8n-"));
  const env = {
    ...isolatedEnvironment(home),
    N8N_USER_FOLDER: home,
    N8N_DIAGNOSTICS_ENABLED: "false",
    N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
    N8N_RUNNERS_BROKER_PORT: String(await findFreePort()),
  };
  const call = async (...args: readonly string[]): Promise<string> => {
    const child = startChild(process.execPath, [options.program, ...args], { cwd: home, env });
    try {
      await child.waitForEnd(START_TIMEOUT_MS);
    } finally {
      await child.stop(5_000);
    }
    return `${child.stdoutLines.join("\n")}\n${child.stderr}`;
  };
  const credentials = Object.keys(options.apiKeys);
  const workflows = credentials.flatMap((credential) =>
    [true, false].map((usesResponses) => createWorkflow(options, { credential, usesResponses })),
  );
  const files = { credentials: credentials.map((name) => createCredential(options, name)), workflows };
  await writeFile(join(home, "credentials.json"), JSON.stringify(files.credentials));
  await writeFile(join(home, "workflows.json"), JSON.stringify(files.workflows));
  await call("import:credentials", "--input=credentials.json");
  await call("import:workflow", "--input=workflows.json");
  return {
    run: (workflow) => call("execute", `--id=${nameOf(workflow)}`, "--rawOutput"),
    close: () => rm(home, { recursive: true, force: true }),
  };
}

const nameOf = ({ credential, usesResponses }: Workflow): string =>
  `${credential}-${usesResponses ? "responses" : "chat"}`;

/** Credential of the type *OpenAI*, with the fields that docs/clients.md names. */
function createCredential({ apiKeys, baseUrl }: N8nOptions, name: string) {
  return { id: name, name, type: "openAiApi", data: { apiKey: apiKeys[name], url: `${baseUrl}/v1` } };
}

function createWorkflow({ model, prompt }: N8nOptions, workflow: Workflow) {
  const { credential, usesResponses } = workflow;
  const link = (node: string, type: string) => ({ [type]: [[{ node, type, index: 0 }]] });
  const nodes = [
    { name: "Start", type: "n8n-nodes-base.manualTrigger", typeVersion: 1, parameters: {} },
    {
      name: "Ask",
      type: "@n8n/n8n-nodes-langchain.chainLlm",
      typeVersion: 1.7,
      parameters: { promptType: "define", text: prompt },
    },
    {
      name: "OpenAI Chat Model",
      type: "@n8n/n8n-nodes-langchain.lmChatOpenAi",
      typeVersion: 1.3,
      parameters: { model: { __rl: true, mode: "id", value: model }, responsesApiEnabled: usesResponses },
      credentials: { openAiApi: { id: credential, name: credential } },
    },
  ];
  return {
    id: nameOf(workflow),
    name: nameOf(workflow),
    active: false,
    settings: { executionOrder: "v1" },
    nodes: nodes.map((node, index) => ({ ...node, id: String(index), position: [200 * index, 0] })),
    connections: { Start: link("Ask", "main"), "OpenAI Chat Model": link("Ask", "ai_languageModel") },
  };
}

export interface OpenWebui {
  /** Calls its own API, as its pages do. */
  call(path: string, body?: object): Promise<string>;
  close(): Promise<void>;
}

/** Starts Open WebUI with the gateway as its only connection, and signs in. */
export async function startOpenWebui(options: ApplicationOptions): Promise<OpenWebui> {
  const home = await mkdtemp(join(tmpdir(), "igw-open-webui-"));
  // It imports Python modules from the directory above its data.
  const data = join(home, "data");
  await mkdir(data);
  const port = await findFreePort();
  const child = startChild(options.program, ["serve", "--host", "127.0.0.1", "--port", String(port)], {
    cwd: data,
    env: {
      ...isolatedEnvironment(home),
      PATH: `${dirname(options.program)}:${process.env["PATH"] ?? ""}`,
      DATA_DIR: data,
      WEBUI_SECRET_KEY: "secret of this test",
      WEBUI_AUTH: "False",
      OPENAI_API_BASE_URL: `${options.baseUrl}/v1`,
      OPENAI_API_KEY: options.apiKey,
      ENABLE_OLLAMA_API: "False",
      // Downloads no model for search in documents.
      RAG_EMBEDDING_ENGINE: "openai",
      OFFLINE_MODE: "True",
    },
  });
  const close = async (): Promise<void> => {
    await child.stop(5_000);
    await rm(home, { recursive: true, force: true });
  };
  try {
    return { ...(await signIn(`http://127.0.0.1:${port}`, child)), close };
  } catch (thrown) {
    await close();
    throw new Error(child.stderr.slice(-8_000), { cause: thrown });
  }
}

async function signIn(url: string, child: Child): Promise<Pick<OpenWebui, "call">> {
  const isReady = async (): Promise<boolean> =>
    child.ended !== null || (await send(url, { path: "/health" })).status === 200;
  await waitFor("Open WebUI's start", isReady, { timeoutMs: START_TIMEOUT_MS, intervalMs: 250 });
  const path = "/api/v1/auths/signin";
  const signedIn = await send(url, { path, body: { email: "admin@localhost", password: "admin" } });
  const headers = { authorization: `Bearer ${String(signedIn.json()["token"])}` };
  return {
    call: async (path, body) =>
      (await send(url, { path, headers, ...(body !== undefined && { body }) })).text,
  };
}
