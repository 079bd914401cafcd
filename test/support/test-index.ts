/** Which test shows which error code and which rule of the documents: what test/test-index.md is made of. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ERRORS, type ErrorCode } from "../../src/shared/contract/errors.ts";
import { PROVOKED } from "../envoy/access/error-rows.ts";
import { NOT_PROVOKED } from "../envoy/access/provocation.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Pages with rules: the first cell of each row of their tables has the ids of one rule or several. */
export const RULE_PAGES = ["docs/messages.md", "docs/responses.md"] as const;

export interface NamedTest {
  /** From the repository's root. */
  readonly file: string;
  /** As its file has it, placeholders included. */
  readonly name: string;
}

/** All of the page, in its order, one that stands there twice included. */
export function readDocumentedRules(page: (typeof RULE_PAGES)[number]): readonly string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const firstCells = text.matchAll(/^\| ((?:`(?:responses\.)?[a-z_]+\.[a-z_\d]+`(?:, )?)+) \|/gm);
  return [...firstCells].flatMap(([, ids = ""]) => ids.replaceAll("`", "").split(", "));
}

/** By rule: tests whose names begin with it: "[request.max_tokens] is required". Files in their order. */
export function readRuleTests(): ReadonlyMap<string, readonly NamedTest[]> {
  const tests = new Map<string, NamedTest[]>();
  const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" });
  for (const entry of files
    .filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"))
    .toSorted()) {
    const file = `test/${entry}`;
    const source = readFileSync(join(ROOT, file), "utf8");
    for (const [, , name = ""] of source.matchAll(/(["'`])(\[(?:responses\.)?[a-z_]+\.[a-z_\d]+\].*?)\1/g)) {
      for (const [, rule = ""] of name.matchAll(/\[((?:responses\.)?[a-z_]+\.[a-z_\d]+)\]/g)) {
        tests.set(rule, [...(tests.get(rule) ?? []), { file, name }]);
      }
    }
  }
  return tests;
}

/** The test that brings each error about through Envoy, or the one that shows it in another way. Null: there is none. */
export function findErrorTest(code: ErrorCode): NamedTest | null {
  const elsewhere = NOT_PROVOKED[code];
  if (elsewhere !== undefined) return { file: elsewhere.file, name: elsewhere.test };
  if (PROVOKED[code] === undefined) return null;
  return { file: "test/envoy/error-table.test.ts", name: "$code has its status, its headers and its body" };
}

/** Whether the file has a test of this name. */
export function isThere({ file, name }: NamedTest): boolean {
  const source = readFileSync(join(ROOT, file), "utf8");
  return ['"', "'", "`"].some((quote) => source.includes(`${quote}${name}${quote}`));
}

/** The text of test/test-index.md. */
export function formatTestIndex(): string {
  const errors = (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const test = findErrorTest(code);
    return formatRow(code, test === null ? [] : [{ ...test, name: test.name.replace("$code", code) }]);
  });
  const tests = readRuleTests();
  const rules = RULE_PAGES.map((page) => {
    const rows = readDocumentedRules(page).map((rule) => formatRow(rule, tests.get(rule) ?? []));
    return `## Rules of [${page.slice("docs/".length)}](../${page})\n\n${formatTable("rule", rows)}`;
  });
  return [
    "# Which test shows what",
    "",
    "Each error code and each rule of translation, with the tests that fail when it does not hold. Made by " +
      "`npx vitest run --project unit test/unit/contract/test-index.test.ts -u`; the same test fails where this page is " +
      "another than what is made, and where a code or a rule has no test.",
    "",
    "## Error codes",
    "",
    formatTable("code", errors),
    "",
    rules.join("\n\n"),
    "",
  ].join("\n");
}

function formatTable(first: string, rows: readonly string[]): string {
  return [`| ${first} | test |`, "|---|---|", ...rows].join("\n");
}

/** One of several tests stands for them: the first, and how many more there are. */
function formatRow(id: string, [test, ...others]: readonly NamedTest[]): string {
  if (test === undefined) return `| \`${id}\` | none |`;
  const name = test.name.replaceAll("|", "\\|");
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return `| \`${id}\` | [${test.file.slice("test/".length)}](${test.file.slice("test/".length)}): ${name.includes("`") ? name : `\`${name}\``}${more} |`;
}
