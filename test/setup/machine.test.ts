/** What docs/quickstart.md says that a machine needs is what the set-up asks for, and what the Envoy asks for that it installs. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { OLDEST_REDIS, PROVEN_ENVOYS } from "../../src/shared/contract/proven-versions.ts";
import { findEnvoy } from "../../src/operation/setup/envoy.ts";
import { MINIMUM_NODE } from "../../src/operation/setup/node-version.js";
import { createToolContext } from "../../src/operation/setup/tool-context.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const PAGE = read("docs/quickstart.md");

/** The versions that stand in a text behind some words, "2.31". */
const versionAfter = (text: string, words: RegExp): string =>
  new RegExp(`${words.source}(\\d+(?:\\.\\d+)*)`).exec(text)?.[1] ?? `none after ${words}`;
const minorOf = (version: string): number => Number(version.split(".")[1]);

describe("docs/quickstart.md", () => {
  it.each([
    { what: "Node", asked: MINIMUM_NODE, told: /Node / },
    {
      what: "Python",
      asked: `3.${versionAfter(read("src/operation/setup/python.ts"), /findPython\(context, /)}`,
      told: /Python /,
    },
    {
      what: "Envoy",
      asked: PROVEN_ENVOYS[0],
      told: /install Envoy /,
    },
    {
      what: "Redis",
      asked: OLDEST_REDIS,
      told: /and Redis /,
    },
  ])("names the $what that the set-up asks for", ({ asked, told }) => {
    expect(`${asked}.`).toContain(`${versionAfter(PAGE, told)}.`);
  });

  it("names a glibc that has all that the Envoy needs which is installed", async () => {
    const envoy = await findEnvoy(createToolContext());
    const program = readFileSync(envoy?.path ?? "no Envoy is installed", "latin1");
    const needed = Array.from(program.matchAll(/GLIBC_2\.(\d+)/g), ([, minor]) => Number(minor));
    expect(needed.length).toBeGreaterThan(0);
    expect(Math.max(...needed)).toBeLessThanOrEqual(minorOf(versionAfter(PAGE, /glibc /)));
  });
});
