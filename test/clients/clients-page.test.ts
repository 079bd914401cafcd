/** Every snippet of docs/clients.md and README.md for an SDK, run as printed, with the tested packages of Node and Python. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
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

/** One after the other in one interpreter, each with nothing of the others': an SDK takes it seconds to import. */
const EACH_PYTHON = `import json, sys
for text in json.loads(sys.argv[1]):
    exec(text, {"__name__": "__main__"})
    print("\\x1e", end="")`;
const textsOf = (wanted: string): readonly string[] =>
  SNIPPETS.filter(({ language }) => language === wanted).map(({ text }) => text);

/** What a program prints that has this stack's addresses in place of the usual ones. */
async function print(program: string, args: readonly string[]): Promise<string> {
  const { baseUrl, demoKey } = chat.stack;
  const here = args.map((arg) =>
    arg.replaceAll("http://127.0.0.1:10000", baseUrl).replaceAll("sk-igw-…", demoKey),
  );
  const { stdout } = await run(program, here, {
    // Node finds the SDKs from there.
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    env: { ...process.env, API_KEY: demoKey },
    timeout: SNIPPET_TIMEOUT_MS,
  });
  return stdout;
}

describe("snippets of SDKs", () => {
  const printed = new Map<string, string>();

  beforeAll(async () => {
    const texts = textsOf("python");
    const all = await print(findPython() ?? "python3", ["-c", EACH_PYTHON, JSON.stringify(texts)]);
    for (const [index, text] of texts.entries()) printed.set(text, all.split("\x1e")[index] ?? "nothing");
    for (const text of textsOf("js")) {
      printed.set(text, await print(process.execPath, ["--input-type=module", "-e", text]));
    }
  }, SNIPPET_TIMEOUT_MS);

  it.each(SNIPPETS)("$page, $language: $begins", ({ page, text }) => {
    expect(printed.get(text)).toMatch(page === "README.md" ? /^$/u : /^(?:Hello\s+)+$/u);
  });

  it("are six: of both SDKs on the front page, and of each SDK on the clients page", () => {
    expect(SNIPPETS).toHaveLength(6);
  });
});
