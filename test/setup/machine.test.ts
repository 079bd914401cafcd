/** What README.md says that a machine needs is what the set-up asks for, and what the Envoy asks for that it installs. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findEnvoy } from "../../src/setup/envoy.ts";
import { createToolContext } from "../../src/setup/tool-context.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const README = read("README.md");

/** The versions that stand in a text behind some words, "2.31". */
const versionAfter = (text: string, words: RegExp): string =>
  new RegExp(`${words.source}(\\d+(?:\\.\\d+)*)`).exec(text)?.[1] ?? `none after ${words}`;
const minorOf = (version: string): number => Number(version.split(".")[1]);

describe("README.md", () => {
  it.each([
    { what: "Node", asked: versionAfter(read("package.json"), /"node": ">=/), told: /Node / },
    {
      what: "Python",
      asked: `3.${versionAfter(read("src/setup/python.ts"), /findPython\(context, /)}`,
      told: /Python /,
    },
    {
      what: "Envoy",
      asked: versionAfter(read("src/setup/envoy.ts"), /ENVOY_VERSION = "/),
      told: /an Envoy /,
    },
    {
      what: "Redis",
      asked: versionAfter(read("src/setup/redis.ts"), /install redis-server \(/),
      told: /a Redis /,
    },
  ])("names the $what that the set-up asks for", ({ asked, told }) => {
    expect(`${asked}.`).toContain(`${versionAfter(README, told)}.`);
  });

  it("names a glibc that has all that the Envoy needs which is installed", async () => {
    const envoy = await findEnvoy(createToolContext());
    const program = readFileSync(envoy?.path ?? "no Envoy is installed", "latin1");
    const needed = Array.from(program.matchAll(/GLIBC_2\.(\d+)/g), ([, minor]) => Number(minor));
    expect(needed.length).toBeGreaterThan(0);
    expect(Math.max(...needed)).toBeLessThanOrEqual(minorOf(versionAfter(README, /glibc /)));
  });
});
