/** The completions in the shells themselves: every command, option and value of the program is offered where it belongs. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type CommandNode,
  listCommands,
  readCommandTree,
} from "../../src/operation/cli/completion/command-tree.ts";
import { createProgram } from "../../src/operation/cli/program.ts";
import { findOnPath } from "../../src/operation/setup/find-executable.ts";
import { runAtTerminal } from "../support/terminal.ts";
import { callCli } from "./call-cli.ts";

const TREE = readCommandTree(createProgram());
const PROGRAM = "inference-gateway";
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** What is typed, the last word up to the cursor, and what must be offered for it. */
interface Case {
  readonly words: readonly string[];
  readonly offered: readonly string[];
}

const begunBy = (node: CommandNode) => [PROGRAM, ...node.path.split(" ").filter((word) => word !== "")];
const longNamesOf = ({ options }: CommandNode) =>
  options.flatMap(({ names }) => names.filter((name) => name.startsWith("--")));

const CASES: readonly Case[] = listCommands(TREE).flatMap((node) => {
  const next = [...node.commands.map(({ name }) => name), ...node.argumentChoices];
  const choosing = node.options.filter(({ value }) => value === "choices");
  return [
    { words: [...begunBy(node), "--"], offered: longNamesOf(node) },
    ...(next.length === 0 ? [] : [{ words: [...begunBy(node), ""], offered: next }]),
    ...choosing.map(({ names, choices }) => ({
      words: [...begunBy(node), names.at(-1) ?? "", ""],
      offered: choices,
    })),
  ];
});

it("ends quietly when the reader of its output has gone", async () => {
  const child = spawn(process.execPath, [MAIN, "completion", "fish"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect([errors, code]).toEqual(["", 0]);
});

it("offers a command under its aliases too", () => {
  expect(listCommands(TREE).map(({ path }) => path)).toContain("token revoke");
});

let dir = "";
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "igw-completion-"));
  mkdirSync(join(dir, "here", "a folder"), { recursive: true });
  writeFileSync(join(dir, "here", "a file"), "");
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout } = await callCli(["completion", shell]);
    writeFileSync(join(dir, shell), stdout);
  }
});
afterAll(() => rmSync(dir, { recursive: true }));

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const NAMES = { begun: ["rotate"], file: ["a file", "a folder"], folder: ["a folder"] };
const KEY_COMMANDS = (TREE.commands.find(({ name }) => name === "key")?.commands ?? [])
  .map(({ name }) => name)
  .toSorted();

/** How each shell is asked for what it offers: a script that prints the words, and `<end>` behind those of each case. */
const SHELLS = [
  {
    shell: "bash",
    args: ["--norc", "--noprofile", "-c"],
    ask: ({ words }: Case) =>
      `COMP_WORDS=(${words.map(quote).join(" ")}); COMP_CWORD=${words.length - 1}; _inference_gateway; printf '%s\\n' "\${COMPREPLY[@]}" '<end>'`,
    offered: NAMES,
    before: "",
  },
  {
    shell: "zsh",
    args: ["-f", "-c"],
    // Its completion system tells its widgets alone what it would offer: these stand for them.
    before:
      "compdef() { : }; _describe() { print -rl -- ${${(P)argv[-1]}%%:*} }; compadd() { shift; print -rl -- $@ }; _files() { print -l files $@ }; _message() { : };",
    ask: ({ words }: Case) =>
      `words=(${words.map(quote).join(" ")}); CURRENT=${words.length}; _inference_gateway; print '<end>'`,
    // That it offers what begins so alone is its own part: at the terminal below.
    offered: { begun: KEY_COMMANDS, file: ["files"], folder: ["-", "files"] },
  },
  {
    shell: "fish",
    args: ["--no-config", "-c"],
    before: "",
    ask: ({ words }: Case) =>
      `complete -C ${quote(words.join(" "))} | string replace -r '\\t.*' ''; echo '<end>'`,
    offered: NAMES,
  },
] as const;

function offer({ shell, args, before, ask }: (typeof SHELLS)[number], cases: readonly Case[]): string[][] {
  const script = [before, `source ${quote(join(dir, shell))}`, ...cases.map(ask)].join("\n");
  const env = { ...process.env, HOME: dir, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir };
  const printed = execFileSync(shell, [...args, script], { cwd: join(dir, "here"), env, encoding: "utf8" });
  const offered = printed.split(/^<end>\n/m).slice(0, cases.length);
  return offered.map((text) => text.split("\n").filter((word) => word !== ""));
}

const missing = (shell: string) =>
  findOnPath(shell, process.env) === null
    ? `there is no ${shell} on PATH: its completion is not tried`
    : null;

describe.each(SHELLS)("the completion for $shell", (shell) => {
  it("offers every command, option and value of the program in its place", (context) => {
    const reason = missing(shell.shell);
    if (reason !== null) context.skip(reason);
    expect(CASES.length).toBeGreaterThan(50);
    const offered = offer(shell, CASES);
    const found = CASES.map(({ words }, index) => [words.join(" "), offered[index]?.toSorted()]);
    const expected = CASES.map(({ words, offered: wanted }) => [words.join(" "), wanted.toSorted()]);
    expect(found).toEqual(expected);
  });

  it("offers what begins as the word does, and files and folders where an option takes one", (context) => {
    const reason = missing(shell.shell);
    if (reason !== null) context.skip(reason);
    const [begun = [], file = [], folder = [], text = []] = offer(shell, [
      { words: [PROGRAM, "key", "rot"], offered: [] },
      { words: [PROGRAM, "config", "check", "--config", ""], offered: [] },
      { words: [PROGRAM, "envoy", "secrets", "--secrets", ""], offered: [] },
      { words: [PROGRAM, "key", "list", "--org", ""], offered: [] },
    ]);
    // How a name is quoted, and that a folder ends with a slash, is the shell's own.
    const bare = (words: readonly string[]) => words.map((word) => word.replaceAll(/[\\/]/g, "")).toSorted();
    const offered = { begun: bare(begun), file: bare(file), folder: bare(folder) };
    expect(offered).toEqual(shell.offered);
    expect(text).toEqual([]);
  });
});

describe("Tab at a terminal", () => {
  it.for([
    { shell: "bash", args: ["--norc", "--noprofile", "-i"], load: "source " },
    { shell: "zsh", args: ["-f", "-i"], load: "autoload -U compinit; compinit -u -D; source " },
  ])("completes a command in $shell", async ({ shell, args, load }, context) => {
    const reason = missing(shell);
    if (reason !== null) context.skip(reason);
    const types = [
      { after: "ready> ", text: `${load}${join(dir, shell)}; echo lo''aded\n` },
      { after: "loaded", text: "" },
      { after: "ready> ", text: `${PROGRAM} key rot\t` },
      // Ctrl-U takes the line back.
      { after: "key rotate", text: "\u0015exit\n" },
    ];
    const env = { PS1: "ready> ", HOME: dir, ZDOTDIR: dir, BASH_SILENCE_DEPRECATION_WARNING: "1" };
    const { screen } = await runAtTerminal([shell, ...args], { env, columns: 120, types });
    expect(screen).toContain(`${PROGRAM} key rotate`);
  });
});

describe("inference-gateway completion", () => {
  it("refuses a shell that it does not know, and names those that it does", async () => {
    const { code, stderr } = await callCli(["completion", "tcsh"]);
    expect(code).toBe(2);
    expect(stderr).toContain("bash, zsh, fish");
  });
});
