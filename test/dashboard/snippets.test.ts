/** Every snippet of *Try it*, copied off the page and run as it stands. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureCodex } from "../support/codex.ts";
import { ensureClaudeCode } from "../support/claude-code.ts";
import { findPython } from "../support/python.ts";
import { startUpstream, type ScriptedUpstream } from "../support/upstream.ts";
import { withStack } from "../support/with-stack.ts";
import { CHROMIUM, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";

const run = promisify(execFile);
const PACKAGES = fileURLToPath(new URL("../clients/node_modules", import.meta.url));
const RUN_TIMEOUT_MS = 90_000;

describe.skipIf(CHROMIUM === null)(`the snippets of Try it${SKIPPED_WHY}`, () => {
  let upstream: ScriptedUpstream;
  const getStack = withStack(async () => {
    upstream = await startUpstream();
    return { upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1" }] };
  });
  const open = withBrowser();
  const texts = new Map<string, string>();
  let dir = "";
  let key = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "igw-snippets-"));
    await symlink(PACKAGES, join(dir, "node_modules"));
    const stack = getStack();
    const { id } = await stack.admin("POST", "/api/organizations", { name: "Acme", currency: "USD" });
    const made = await stack.admin("POST", `/api/organizations/${String(id)}/keys`, { name: "ci" });
    key = String(made["key"]);
    const page = await open();
    await signIn(page, stack);
    await page.goto(`${stack.adminUrl}/organizations/${String(id)}/try`);
    for (const code of await page.locator("pre code").all()) {
      texts.set((await code.getAttribute("id")) ?? "", (await code.textContent()) ?? "");
    }
  });
  afterAll(async () => {
    await upstream.close();
    await rm(dir, { recursive: true, force: true });
  });

  /** Nothing of this machine's own settings but what is needed to find programs. */
  async function execute(command: string, args: readonly string[], env: Record<string, string> = {}) {
    const home = join(dir, "home");
    await mkdir(home, { recursive: true });
    const { stdout } = await run(command, args, {
      cwd: dir,
      timeout: RUN_TIMEOUT_MS,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: home,
        NO_PROXY: "127.0.0.1,localhost",
        API_KEY: key,
        ...env,
      },
    });
    return stdout;
  }

  async function runScript(id: string, command: string, ending: string): Promise<string> {
    // Not "langchain.py", which Python would take for the package.
    const file = `try-${id}${ending}`;
    await writeFile(join(dir, file), texts.get(id) ?? "");
    return execute(command, [file]);
  }

  it("are these", () => {
    expect([...texts.keys()].sort()).toEqual([
      "anthropic-node",
      "anthropic-python",
      "claude-code",
      "codex",
      "curl",
      "curl-messages",
      "curl-responses",
      "cursor",
      "langchain",
      "openai-node",
      "openai-python",
      "opencode",
      "vercel",
    ]);
  });

  it("curl", async () => {
    const answer = JSON.parse(await runScript("curl", "sh", ".sh")) as {
      choices: { message: { content: string } }[];
    };
    expect(answer.choices[0]?.message.content).toBe("Hello");
  });

  it("curl-messages", async () => {
    const answer = JSON.parse(await runScript("curl-messages", "sh", ".sh")) as {
      content: { text: string }[];
    };
    expect(answer.content[0]?.text).toBe("Hello");
  });

  it("curl-responses", async () => {
    const answer = JSON.parse(await runScript("curl-responses", "sh", ".sh")) as {
      output: { content?: { text: string }[] }[];
    };
    expect(answer.output.flatMap(({ content = [] }) => content.map(({ text }) => text))).toEqual(["Hello"]);
  });

  // Neither runs without a window or a network: what they are given is read.
  it("opencode and cursor carry the base URL", () => {
    const config = JSON.parse(texts.get("opencode") ?? "") as {
      provider: { gateway: { options: object } };
    };
    const baseURL = `${getStack().baseUrl}/v1`;
    expect(config.provider.gateway.options).toEqual({ baseURL, apiKey: "{env:API_KEY}" });
    expect(texts.get("cursor")).toContain(baseURL);
  });

  it.each(["openai-node", "anthropic-node", "vercel"])("%s", async (id) => {
    expect((await runScript(id, process.execPath, ".mjs")).trim()).toBe("Hello");
  });

  const python = findPython();
  const why = python === null ? " (skipped: no Python with the SDKs)" : "";
  it.skipIf(python === null).each(["openai-python", "anthropic-python", "langchain"])(
    `%s${why}`,
    async (id) => {
      expect((await runScript(id, python ?? "", ".py")).trim()).toBe("Hello");
    },
  );

  it("codex", async (context) => {
    const { path, missing } = await ensureCodex();
    if (path === null) {
      context.skip(missing);
      return;
    }
    const codexHome = join(dir, "home", ".codex");
    await mkdir(codexHome, { recursive: true });
    await writeFile(join(codexHome, "config.toml"), texts.get("codex") ?? "");
    // It would wait for the end of an input that is open.
    const command = '"$0" exec --skip-git-repo-check "Say hello" < /dev/null';
    const stdout = await execute("sh", ["-c", command, path], { CODEX_HOME: codexHome });
    expect(stdout).toContain("Say hello");
  });

  it("claude-code", async (context) => {
    const { path, missing } = await ensureClaudeCode();
    if (path === null) {
      context.skip(missing);
      return;
    }
    // The last line opens a window to talk in; here it is asked one thing.
    const script = (texts.get("claude-code") ?? "").replace(
      /\nclaude$/u,
      '\nclaude -p "Say hello" --output-format json',
    );
    expect(script).toContain("--output-format");
    await writeFile(join(dir, "claude-code.sh"), script);
    const stdout = await execute("sh", ["claude-code.sh"], {
      PATH: `${dirname(path)}:${process.env["PATH"] ?? ""}`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
    });
    const result = JSON.parse(stdout.slice(stdout.indexOf("{"))) as { is_error: boolean; result: string };
    expect(result).toMatchObject({ is_error: false });
    expect(result.result).toContain("Say hello");
  });
});
