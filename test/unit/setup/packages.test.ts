import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ensurePackages, isInstalled, lacksOnlyUnavailable } from "../../../src/operation/setup/packages.js";

const locked = {
  packages: {
    "": { version: "0.1.0" },
    "node_modules/a": { version: "1.0.0" },
    "node_modules/b": { version: "2.0.0", optional: true },
    "node_modules/compiler": { version: "3.0.0", dev: true },
  },
};
const list = (versions: object) => ({
  packages: Object.fromEntries(
    Object.entries(versions).map(([path, version]) => [path, { version: String(version) }]),
  ),
});

describe("isInstalled", () => {
  it.each([
    {
      name: "everything is there",
      present: { "node_modules/a": "1.0.0", "node_modules/b": "2.0.0" },
      expected: true,
    },
    { name: "an optional package is missing", present: { "node_modules/a": "1.0.0" }, expected: true },
    {
      name: "more than is wanted is there",
      present: { "node_modules/a": "1.0.0", "node_modules/c": "1.0.0" },
      expected: true,
    },
    { name: "a package is missing", present: { "node_modules/b": "2.0.0" }, expected: false },
    { name: "a package has another version", present: { "node_modules/a": "1.0.1" }, expected: false },
    {
      name: "an optional package has another version",
      present: { "node_modules/a": "1.0.0", "node_modules/b": "1.9.0" },
      expected: false,
    },
    { name: "nothing is there", present: {}, expected: false },
  ])("is $expected when $name", ({ present, expected }) => {
    expect(isInstalled(locked, list(present), false)).toBe(expected);
    expect(isInstalled(locked, list({ ...present, "node_modules/compiler": "3.0.0" }), true)).toBe(expected);
  });

  it("is false while a development package is missing that is wanted", () => {
    expect(isInstalled(locked, list({ "node_modules/a": "1.0.0" }), true)).toBe(false);
  });
});

describe("lacksOnlyUnavailable", () => {
  const head = ["npm error code EUSAGE", "npm error", "npm error `npm ci` can only install packages when …"];
  const unavailable = "npm error Missing: @oxfmt/binding-darwin-x64@ from lock file";
  it.each([
    { name: "optional packages that nobody can get", lines: [...head, unavailable], expected: true },
    {
      name: "a package that the lock file should have",
      lines: [...head, unavailable, "npm error Missing: hono@4.13.19 from lock file"],
      expected: false,
    },
    {
      name: "a package with another version",
      lines: [
        ...head,
        unavailable,
        "npm error Invalid: lock file's hono@4.13.18 does not satisfy hono@4.13.19",
      ],
      expected: false,
    },
    { name: "no registry", lines: ["npm error code ENOTFOUND"], expected: false },
  ])("is $expected for $name", ({ lines, expected }) => {
    expect(lacksOnlyUnavailable(lines.join("\n"))).toBe(expected);
  });
});

describe("ensurePackages", () => {
  /** A clone with these packages, and an npm that notes how it was called. */
  function createClone(packages: object | null) {
    const root = mkdtempSync(join(tmpdir(), "igw-packages-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    mkdirSync(join(root, "node_modules"));
    writeFileSync(join(root, "package-lock.json"), JSON.stringify(locked));
    if (packages !== null) {
      writeFileSync(join(root, "node_modules", ".package-lock.json"), JSON.stringify({ packages }));
    }
    const calls = join(root, "calls");
    writeFileSync(calls, "");
    writeFileSync(join(root, "npm"), '#!/bin/sh\necho "$1 $2 $3" >> calls\n');
    chmodSync(join(root, "npm"), 0o755);
    vi.stubEnv("PATH", root);
    onTestFinished(() => void vi.unstubAllEnvs());
    return { root, readCalls: () => readFileSync(calls, "utf8") };
  }
  const program = { "node_modules/a": { version: "1.0.0" } };
  const compiler = { "node_modules/compiler": { version: "3.0.0", dev: true } };
  const old = { "node_modules/a": { version: "0.9.0" } };

  it.each([
    { name: "a fresh clone", present: null, development: false, call: "ci --omit=dev --ignore-scripts\n" },
    { name: "a clone that has what the program needs", present: program, development: false, call: "" },
    {
      name: "the same for developers",
      present: program,
      development: true,
      call: "ci --include=dev --ignore-scripts\n",
    },
    { name: "an old clone", present: old, development: false, call: "ci --omit=dev --ignore-scripts\n" },
    {
      name: "an old clone of a developer",
      present: { ...old, ...compiler },
      development: false,
      call: "ci --include=dev --ignore-scripts\n",
    },
  ])("runs npm as $name needs it", async ({ present, development, call }) => {
    const { root, readCalls } = createClone(present);
    await ensurePackages(root, { development });
    expect(readCalls()).toBe(call);
  });
});
