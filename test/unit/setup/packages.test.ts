import { describe, expect, it } from "vitest";
import { isInstalled, lacksOnlyUnavailable } from "../../../src/setup/packages.js";

const locked = {
  packages: {
    "": { version: "0.1.0" },
    "node_modules/a": { version: "1.0.0" },
    "node_modules/b": { version: "2.0.0", optional: true },
  },
};
const installed = (packages: Record<string, { version: string }>) => ({ packages });

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
    const packages = Object.fromEntries(
      Object.entries(present).map(([path, version]) => [path, { version }]),
    );
    expect(isInstalled(locked, installed(packages))).toBe(expected);
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
