import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { DEFAULT_NODE, isTooOld, MINIMUM_NODE } from "../../../src/operation/setup/node-version.js";

describe("isTooOld", () => {
  it.each([
    { version: "22.12.0", expected: false },
    { version: "22.23.5", expected: false },
    { version: "24.0.0", expected: false },
    { version: "26.1.0", expected: false },
    { version: "22.11.3", expected: true },
    { version: "20.20.2", expected: true },
    { version: "18.20.8", expected: true },
  ])("is $expected for $version", ({ version, expected }) => {
    expect(isTooOld(version)).toBe(expected);
  });

  it("asks for what package.json asks for", () => {
    expect(manifest.engines.node).toBe(`>=${MINIMUM_NODE}`);
  });
});

describe("the default Node", () => {
  const majors = new Set(Object.values(DEFAULT_NODE).map(({ version }) => version.split(".")[0]));

  it("is new enough and of one major on every platform", () => {
    expect(majors.size).toBe(1);
    for (const { version } of Object.values(DEFAULT_NODE)) expect(isTooOld(version)).toBe(false);
  });

  it.each(["Dockerfile", "docker-compose.yml"])("is of the major that %s names", (file) => {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
    expect(new Set(Array.from(text.matchAll(/\bnode:(\d+)-slim/g), ([, major]) => major))).toEqual(majors);
  });
});
