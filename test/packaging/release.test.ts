/** What .github/workflows/release.yml runs, piece by piece, as far as it needs no registry. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readReleaseNotes } from "../../src/operation/setup/release-notes.js";
import { createTestFolder } from "../setup/support/stand-in-stack.ts";
import { checkTool } from "./find-tool.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const HELM = process.env["HELM_BIN"] ?? "helm";
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };

interface Step {
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
}

const workflow = parse(readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8")) as {
  jobs: { release: { steps: readonly Step[] } };
};
const { steps } = workflow.jobs.release;

/** A repository of what the notes are made of. */
function createRepository(changelog: string, chartVersion = "1.2.0"): string {
  const root = createTestFolder();
  mkdirSync(join(root, "deploy/helm"), { recursive: true });
  writeFileSync(join(root, "package.json"), '{"version":"1.2.0"}');
  writeFileSync(join(root, "deploy/helm/Chart.yaml"), `version: ${chartVersion}\nappVersion: "1.2.0"\n`);
  writeFileSync(join(root, "CHANGELOG.md"), changelog);
  return root;
}

describe("the notes of a release", () => {
  it("are the section of its version", () => {
    const changelog =
      "# Changelog\n\n## [Unreleased]\n\n- Later.\n\n## [1.2.0] - 2026-11-27\n\n### Added\n\n- This.\n\n## [1.1.0] - 2026-11-01\n\n- That.\n";
    expect(readReleaseNotes(createRepository(changelog))).toBe("### Added\n\n- This.\n");
  });

  it.each([
    { what: "no section of it", changelog: "## [Unreleased]\n\n- Later.\n", error: /found none/ },
    { what: "a section without a day", changelog: "## [1.2.0] - soon\n\n- This.\n", error: /YYYY-MM-DD/ },
    {
      what: "an empty section",
      changelog: "## [1.2.0] - 2026-11-27\n\n## [1.1.0] - 2026-11-01\n",
      error: /found nothing/,
    },
  ])("are refused with $what", ({ changelog, error }) => {
    expect(() => readReleaseNotes(createRepository(changelog))).toThrow(error);
  });

  it("are refused where the chart says another version", () => {
    const root = createRepository("## [1.2.0] - 2026-11-27\n\n- This.\n", "1.1.0");
    expect(() => readReleaseNotes(root)).toThrow(/Chart\.yaml: expected .* 1\.2\.0/);
  });

  it("are there for the version of this repository", () => {
    const notes = execFileSync(process.execPath, ["src/operation/setup/release-notes.js"], {
      cwd: ROOT,
      encoding: "utf8",
    });
    expect(notes).toMatch(/^### /);
    expect(notes).not.toContain("\n## ");
  });
});

describe("the workflow of a release", () => {
  const byName = (name: string): Step => {
    const step = steps.find((each) => each.name === name);
    if (step === undefined) throw new Error(`no step "${name}"`);
    return step;
  };

  it("uses actions by the hash of a commit", () => {
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  it("tests and makes something of a version without a tag alone, and its tag last", () => {
    const [, , , ...rest] = steps;
    expect(rest.map((step) => step.if)).toEqual(rest.map(() => "steps.version.outputs.isNew == 'true'"));
    expect(rest.map(({ name }) => name)).toEqual([
      "everything that has to hold",
      "image",
      "chart",
      "tag and notes",
    ]);
  });

  it.each(steps.filter(({ run }) => run !== undefined))(
    "has a script that bash can read: $name",
    ({ run }) => {
      const { status, stderr } = spawnSync("bash", ["-n"], { input: run ?? "", encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    },
  );

  it.each([
    { what: "a new version", tag: null, isNew: "true" },
    { what: "a version that has its tag", tag: `v${version}`, isNew: "false" },
  ])("knows $what", ({ tag, isNew }) => {
    const root = createTestFolder();
    for (const path of ["package.json", "CHANGELOG.md", "deploy/helm/Chart.yaml", "src/operation/setup"]) {
      cpSync(join(ROOT, path), join(root, path), { recursive: true });
    }
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...args], { cwd: root });
    git("init", "--quiet");
    git("commit", "--quiet", "--allow-empty", "--message", "one");
    if (tag !== null) git("tag", tag);
    const output = join(root, "output");
    execFileSync("bash", ["-euo", "pipefail", "-c", byName("version without a tag").run ?? ""], {
      cwd: root,
      env: { ...process.env, GITHUB_OUTPUT: output },
    });
    expect(readFileSync(output, "utf8")).toBe(`version=${version}\nisNew=${isNew}\n`);
    expect(readFileSync(join(root, "notes.md"), "utf8")).toMatch(/^### /);
  });

  const { missing } = checkTool(HELM, ["version"], "REQUIRE_HELM");

  it.skipIf(missing)(`packs the chart (${missing ?? "helm is here"})`, () => {
    const [pack = ""] = (byName("chart").run ?? "").split("\n");
    const folder = createTestFolder();
    execFileSync(
      "bash",
      ["-c", pack.replace(/^helm/, HELM).replace("deploy/helm", join(ROOT, "deploy/helm"))],
      {
        cwd: folder,
      },
    );
    expect(readdirSync(join(folder, "chart"))).toEqual([`inference-gateway-${version}.tgz`]);
  });
});
