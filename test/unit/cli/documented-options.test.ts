/** Commands and options that sentences and tables of the documents name: each is one that there is. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../src/operation/cli/program.ts";
import { listCodeSpans } from "../../support/documents.ts";

const program = createProgram();

interface Named {
  readonly text: string;
  /** Null: there is no such command. */
  readonly command: Command | null;
  readonly options: readonly string[];
}

/** The command that the first words name, as deep as they go. */
function findCommand(words: readonly string[]): Command | null {
  let found: Command = program;
  for (const word of words) {
    const next = found.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    found = next;
  }
  return found === program ? null : found;
}

function readNamed(text: string, options = text): Named {
  const words = text.split(/\s+/).slice(1);
  return { text, command: findCommand(words), options: options.match(/(?<=^|[\s`])--[a-z][a-z-]*/g) ?? [] };
}

const hasOption = (command: Command, name: string): boolean =>
  name === "--help" || command.options.some(({ long }) => long === name);

function listUnknown(named: readonly Named[]): string[] {
  return named.flatMap(({ text, command, options }) => {
    if (command === null) return [`${text}: no such command`];
    return options.filter((name) => !hasOption(command, name)).map((name) => `${text}: no option ${name}`);
  });
}

describe("the documents", () => {
  it("name commands and options that there are, in their sentences", () => {
    const spans = listCodeSpans().filter(({ text }) => /^inference-gateway [a-z]/.test(text));
    expect(listUnknown(spans.map(({ text }) => readNamed(text)))).toEqual([]);
    expect(spans.length).toBeGreaterThan(40);
  });

  it("name options that there are in the table of commands", () => {
    const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8");
    const rows = Array.from(
      page.matchAll(/^\| `([a-z][a-z -]*)` \| (.*) \|$/gm),
      ([, command = "", cell = ""]) => readNamed(`inference-gateway ${command}`, cell),
    );
    expect(listUnknown(rows)).toEqual([]);
    expect(rows.length).toBeGreaterThan(30);
  });

  it("name scripts of npm and projects of the tests that there are", () => {
    const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");
    const scriptsOf = (folder = ".") =>
      (JSON.parse(read(`${folder}/package.json`)) as { scripts: Record<string, string> }).scripts;
    const projects = Array.from(read("vitest.config.ts").matchAll(/name: "(\w+)"/g), ([, name]) => name);
    const spans = listCodeSpans().map(({ text }) => text);
    const called = spans.flatMap((text) => {
      const [, name, folder] = /^(?:\w+=\S+ )?npm run ([\w:]+)(?: --prefix ([\w/]+))?/.exec(text) ?? [];
      return name === undefined ? [] : [{ name, folder }];
    });
    const wanted = spans.flatMap((text) => Array.from(text.matchAll(/--project (\w+)/g), ([, name]) => name));
    expect(called.filter(({ name, folder }) => !(name in scriptsOf(folder)))).toEqual([]);
    expect(wanted.filter((name) => !projects.includes(name))).toEqual([]);
    expect([called.length, wanted.length].every((count) => count > 3)).toBe(true);
  });
});
