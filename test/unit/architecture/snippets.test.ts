/**
 * Every block of code in the documents is run or checked by a test, or has the reason why none does. The number of blocks
 * with a test may rise, never fall: a page that loses its examples loses their proof.
 */
import { describe, expect, it } from "vitest";
import { listCommands, NOT_RUN, reasonOf } from "../../support/documented-commands.ts";
import { listCodeBlocks } from "../../support/documents.ts";
import { isThere } from "./named-paths.ts";

interface Proof {
  readonly language: RegExp;
  readonly page: RegExp;
  /** The test that runs or checks the blocks, or why none does. */
  readonly by: string;
  /** Blocks with a test, today. */
  readonly least?: number;
}

/** The first row that fits a block is its proof. */
const PROOFS: readonly Proof[] = [
  { language: /^(?:sh|text)$/, page: /first-cap/, by: "test/cli/first-cap.test.ts", least: 18 },
  { language: /^(?:sh|console)$/, page: /./, by: "test/cli/documented-commands.test.ts", least: 46 },
  { language: /^yaml$/, page: /./, by: "test/packaging/documentation.test.ts", least: 14 },
  { language: /^(?:js|python|json)$/, page: /alerts/, by: "test/alerts/documentation.test.ts", least: 3 },
  { language: /^json$/, page: /\bapi\.md/, by: "test/unit/limits/documentation.test.ts", least: 3 },
  { language: /^mermaid$/, page: /internals\/envoy/, by: "test/unit/envoy/phase.test.ts", least: 1 },
  {
    language: /^mermaid$/,
    page: /internals\/request-life/,
    by: "test/unit/architecture/house-picture.test.ts",
    least: 1,
  },
  {
    language: /^mermaid$/,
    page: /internals\/settlement/,
    by: "test/unit/settlement/record-picture.test.ts",
    least: 1,
  },
  { language: /^mermaid$/, page: /./, by: "pictures; the build of the site draws them" },
  { language: /^text$/, page: /./, by: "what a command prints, shortened" },
  { language: /^(?:js|python)$/, page: /clients|README/, by: "test/clients/clients-page.test.ts", least: 6 },
  {
    language: /^(?:toml|json)$/,
    page: /clients|responses/,
    by: "settings of agents; the tests in test/clients write the same for those that they run",
  },
  { language: /^json$/, page: /./, by: "an answer, shortened; tests hold its fields by their schema" },
  { language: /^http$/, page: /./, by: "a request with a token that only the reader's provider signs" },
];

const used = listCodeBlocks().map(({ page, language, text }) => ({
  where: `${page}: \`\`\`${language} ${text.split("\n")[0]}`,
  proof: PROOFS.find((row) => row.language.test(language) && row.page.test(page)),
}));

describe("blocks of code in the documents", () => {
  it("are run or checked by a test, or have a reason", () => {
    expect(used.filter(({ proof }) => proof === undefined)).toEqual([]);
    expect(PROOFS.filter((row) => !used.some(({ proof }) => proof === row))).toEqual([]);
  });

  it.each(PROOFS.filter(({ least }) => least !== undefined))("$by has $least blocks or more", (row) => {
    expect(isThere(row.by)).toBe(true);
    const count = used.filter(({ proof }) => proof === row).length;
    expect(count).toBeGreaterThanOrEqual(row.least ?? 0);
  });
});

const COMMANDS = listCommands();
const countOf = (reason: string | undefined): number =>
  COMMANDS.filter(({ command }) => reasonOf(command) === reason).length;
/** May rise, never fall. */
const LEAST_RUN = 30;

/** The names of these tests are the count. */
describe("commands in the documents, without those of first-cap.md", () => {
  it(`${countOf(undefined)} of ${COMMANDS.length} are run by test/cli/documented-commands.test.ts`, () => {
    expect(countOf(undefined)).toBeGreaterThanOrEqual(LEAST_RUN);
  });

  const reasons = Object.entries(NOT_RUN).map(([begin, why]) => ({ begin, why, count: countOf(begin) }));
  it.each(reasons)("$count with `$begin` are not run: $why", ({ why, count }) => {
    expect(count).toBeGreaterThan(0);
    const tests = why.match(/test\/[\w/.-]+\.ts/g) ?? [];
    expect(tests.filter((file) => !isThere(file))).toEqual([]);
  });
});
