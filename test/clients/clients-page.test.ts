/** Every snippet of docs/clients.md and README.md for an SDK, run as printed, with the tested packages of Node and Python. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { listCodeBlocks } from "../support/documents.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { findPython } from "../support/python.ts";

const run = promisify(execFile);
/** An SDK takes seconds to be imported. */
const SNIPPET_TIMEOUT_MS = 120_000;
const chat = withSharedChatStack([catalogEntry({ id: "demo/echo", upstream: "demo", capabilities: [] })]);

const SNIPPETS = listCodeBlocks()
  .filter(({ page }) => ["README.md", "docs/clients.md"].includes(page))
  .filter(({ language }) => ["js", "python"].includes(language))
  .map(({ page, language, text }) => ({
    page,
    language,
    text,
    begins: text.split("\n").find((line) => line.includes("from ")) ?? "",
  }));

/** Node finds the SDKs from the directory that the snippet runs in. */
function programOf(language: string, text: string): readonly [string, readonly string[]] {
  if (language === "js") return [process.execPath, ["--input-type=module", "-e", text]];
  return [findPython() ?? "python3", ["-c", text]];
}

describe("snippets of SDKs", () => {
  it.each(SNIPPETS)(
    "$page, $language: $begins",
    async ({ page, language, text }) => {
      const { baseUrl, demoKey } = chat.stack;
      const [program, args] = programOf(
        language,
        text.replaceAll("http://127.0.0.1:10000", baseUrl).replaceAll("sk-igw-…", demoKey),
      );
      const { stdout } = await run(program, args, {
        cwd: fileURLToPath(new URL(".", import.meta.url)),
        env: { ...process.env, API_KEY: demoKey },
        timeout: SNIPPET_TIMEOUT_MS,
      });
      expect(stdout).toMatch(page === "README.md" ? /^$/u : /^(?:Hello\s+)+$/u);
    },
    SNIPPET_TIMEOUT_MS,
  );

  it("are six: of both SDKs on the front page, and of each SDK on the clients page", () => {
    expect(SNIPPETS).toHaveLength(6);
  });
});
