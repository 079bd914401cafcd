/**
 * `envoy render --into`: merges the gateway into an operator's own bootstrap, and writes it only after
 * confirmation.
 */
import { constants } from "node:fs";
import { copyFile, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { mergeBootstrap, type MergeOptions } from "../../envoy/merge-bootstrap/merge-bootstrap.ts";
import { MergeRefusal } from "../../envoy/merge-bootstrap/bootstrap-file.ts";
import { CommandError } from "./management/command-error.ts";
import { prompt, isInteractive } from "./terminal/ask.ts";
import { openScreen, type Level, type Screen } from "./terminal/screen.ts";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";

/** Difference between two texts, shown before one of them is written. */
const CONTEXT_LINES = 3;
/** Lines with the names of both files. */
const HEADING_LINES = 2;

/** Formats the difference as `diff -u` does; "" for equal texts. */
export function formatUnifiedDiff(before: string, after: string, file: string): string {
  if (before === after) return "";
  const options = { context: CONTEXT_LINES, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(file, `${file} (merged)`, before, after, undefined, undefined, options);
}

/** Colors a unified diff if the screen has colors. */
export function paintDiff(screen: Screen, diff: string): string {
  return diff
    .split("\n")
    .map((line, index) => screen.paint(index < HEADING_LINES ? "heading" : levelOf(line), line))
    .join("\n");
}

function levelOf(line: string): Level | null {
  if (line.startsWith("@@")) return "quiet";
  if (line.startsWith("+")) return "good";
  return line.startsWith("-") ? "bad" : null;
}

export interface MergeIntoOptions {
  readonly file: string;
  readonly config: Config;
  /** Configuration file to name in the suggested next command. */
  readonly configFile: string;
  readonly merging: MergeOptions;
  /** Write without asking. */
  readonly write: boolean;
}

/**
 * Prints the difference on stdout; everything else goes to stderr.
 * @throws CommandError if a file cannot be read, written or merged; it is then unchanged.
 */
export async function mergeInto({
  file,
  config,
  configFile,
  merging,
  write,
}: MergeIntoOptions): Promise<void> {
  const before = await read(file);
  const after = merge(file, () => mergeBootstrap(before, config, merging));
  if (after === before) {
    process.stderr.write(`${file} already has all parts: nothing to change.\n`);
    return;
  }
  const screen = openScreen(process.stdout, { env: process.env });
  process.stdout.write(paintDiff(screen, formatUnifiedDiff(before, after, file)));
  if (!write && !(await isConfirmed(file))) {
    process.stderr.write(
      `Nothing was written to ${file}${isInteractive() ? "" : ": pass --write to write it"}.\n`,
    );
    return;
  }
  const backup = await replace(file, after);
  process.stderr.write(
    `Written. The previous ${file} is in ${backup}. ` +
      `Next: inference-gateway config check --config ${configFile} --envoy ${file}\n`,
  );
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} can't be read: ${reasonOf(error)}.`, { cause: error });
  }
}

function merge(file: string, run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof MergeRefusal)) throw error;
    const reasons = error.message.split("\n").map((reason) => `  ${reason}`);
    throw new CommandError(
      `${file} can't be merged and is unchanged:\n${reasons.join("\n")}\n` +
        "Correct these places, or add the gateway by hand: inference-gateway envoy render --snippets",
      { cause: error },
    );
  }
}

async function isConfirmed(file: string): Promise<boolean> {
  if (!isInteractive()) return false;
  return /^y(?:es)?$/i.test((await prompt(`Write this to ${file}? [y/N] `)).trim());
}

/** Replaces the file atomically, keeping its mode; returns the path of the backup. */
async function replace(file: string, text: string): Promise<string> {
  let draft: string | null = null;
  try {
    // Replaces the target of a link, not the link.
    const target = await realpath(file);
    draft = join(dirname(target), `.${basename(target)}.${process.pid}`);
    const { mode } = await stat(target);
    const backup = await backUp(target);
    const handle = await open(draft, "wx", mode & 0o777);
    try {
      await handle.writeFile(text);
      await handle.chmod(mode & 0o777);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, target);
    return backup;
  } catch (error) {
    if (draft !== null) await rm(draft, { force: true });
    throw new CommandError(`${file} can't be written: ${reasonOf(error)}.`, { cause: error });
  }
}

/** Copies it to a new, unused name. */
async function backUp(file: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const backup = `${file}.before${number === 1 ? "" : `-${number}`}`;
    try {
      await copyFile(file, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
