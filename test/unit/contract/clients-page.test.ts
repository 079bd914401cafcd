import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createSnippets } from "../../../src/management/admin/dashboard/snippets.ts";
import { CLIENTS } from "../../clients/clients.ts";
import { formatProofs } from "../../clients/proofs.ts";

const PAGE = readFileSync(new URL("../../../docs/clients.md", import.meta.url), "utf8");
const ROW = /^\| (?<client>[^|]+ \| [\d.]+) \|(?<counts>(?: [^|]*\|){4})$/gmu;

/** Client with version, and its numbers of tests by route. */
function readRows(): readonly { readonly client: string; readonly counts: string }[] {
  return [...PAGE.matchAll(ROW)].map(({ groups = {} }) => ({
    client: groups["client"] ?? "",
    counts: groups["counts"] ?? "",
  }));
}

describe("docs/clients.md", () => {
  it("has each client in the version that the tests run: `npm run clients` renews it after a nightly run of them", () => {
    const listed = new Set(readRows().map(({ client }) => client));
    const run = new Set(Object.values(CLIENTS).map(({ name, version }) => `${name} | ${version}`));
    expect([...listed].sort()).toEqual([...run].sort());
  });

  it("counts tests in each row, of which none failed", () => {
    for (const { client, counts } of readRows()) {
      expect(`${client}:${counts.replaceAll(/[ |]+/gu, " ")}`).toMatch(/: (?:[1-9]\d*\/0 )+$/u);
    }
  });
});

describe("snippets of agents", () => {
  const agents = createSnippets("chat", "http://127.0.0.1:10000", "demo/echo").filter(({ id }) =>
    ["claude-code", "codex", "opencode"].includes(id),
  );

  it.each(agents)("docs/clients.md and Try it have the same text for $title", ({ text }) => {
    expect(PAGE).toContain(`\n${text}\n\`\`\``);
  });
});

describe("the table of clients", () => {
  it("adds up what test files found of one version on one route, and sorts versions as numbers", () => {
    const proof = { name: "ai", version: "10.0.0", route: "/v1/messages", passed: 2, failed: 1 } as const;
    const other = { ...proof, version: "9.0.0", route: "/v1/responses", failed: 0 } as const;
    expect(
      formatProofs([proof, other, { ...proof, passed: 3, failed: 0 }])
        .split("\n")
        .slice(2),
    ).toEqual(["| ai | 9.0.0 | | 2/0 | | |", "| ai | 10.0.0 | | | 5/1 | |"]);
  });
});
