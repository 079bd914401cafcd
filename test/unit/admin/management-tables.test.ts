import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { API_ROUTES } from "../../../src/management/admin/api/routes.ts";
import { createProgram } from "../../../src/operation/cli/program.ts";
import type { GroupKind } from "../../../src/shared/settings/group.ts";
import { KEY_SETTINGS } from "../../../src/shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../src/shared/settings/organization.ts";
import { USER_GROUP_SETTINGS } from "../../../src/shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../../src/shared/settings/user.ts";
import type { Setting, Settings } from "../../../src/shared/settings/setting.ts";
import { describeSetting, isRequired } from "../../../src/shared/settings/table.ts";

const pathOf = (page: string): string => fileURLToPath(new URL(`../../../docs/${page}`, import.meta.url));

/** Who has settings, in the order of the table. */
const OWNERS: Readonly<Record<string, Settings>> = {
  organization: ORGANIZATION_SETTINGS,
  key: KEY_SETTINGS,
  user: USER_SETTINGS,
  group: USER_GROUP_SETTINGS,
};

/** What the page says once above its tables, and how its rows say it. */
const SAID_ONCE: Readonly<Record<string, string>> = {
  " Replaces the whole list.": "",
  " Omitted fields stay.": "",
  " Null: none.": "",
  " Null: no limit.": "",
  "; null: none.": ".",
  ", in whole cents": "",
  ", in the order of their creation": "",
  ", from the next request": "",
  " `key` in the response is shown only once.": "",
  " `token` in the response is shown only once.": "",
  " `key` is shown only once.": "",
  "a list of `period` (day, week, month, total), `kind` (cap, budget) and `cents`, at most one of each period and kind":
    "*limits*",
  "an object of at most 100 names of 1 to 128 letters, digits and `. _ : @ / + -`, with a catalog id each; 8000 characters together":
    "at most 100 names with a catalog id each",
  "0 to 9,000,000,000 cents, or null": "*cents*, or null",
  "1 to 100 characters, not only spaces, without control characters": "*name*",
  "true or false": "boolean",
};

const shorten = (text: string): string =>
  Object.entries(SAID_ONCE).reduce((shorter, [said, left]) => shorter.replace(said, left), text);

interface SettingRow {
  readonly path: string;
  readonly text: string;
}

function listRows(table: Settings, prefix = ""): SettingRow[] {
  return Object.values(table).flatMap((row): SettingRow[] => {
    const path = `${prefix}${row.apiName}`;
    const { kind } = row;
    const meaning = shorten(describeSetting(row));
    if (!isGroup(kind)) {
      return [{ path, text: `${shorten(kind.values)} | ${formatDefault(row)} | ${meaning}` }];
    }
    return [{ path, text: `an object | | ${meaning}` }, ...listRows(kind.members, `${path}.`)];
  });
}

/** A row for each setting; one that several owners have alike is one row. */
function formatSettings(): string[] {
  const owners = new Map<string, string[]>();
  for (const [owner, table] of Object.entries(OWNERS)) {
    for (const { path, text } of listRows(table)) {
      const row = `\`${path}\` | ${text}`;
      owners.set(row, [...(owners.get(row) ?? []), owner]);
    }
  }
  return [...owners].map(([row, names]) => {
    const [path, ...cells] = row.split(" | ");
    return `| ${path} | ${names.join(", ")} | ${cells.join(" | ")} |`;
  });
}

function isGroup(kind: Setting["kind"]): kind is GroupKind<Settings> {
  return kind.notation === "group";
}

function formatDefault(row: Setting): string {
  if (isRequired(row)) return "required";
  return row.default === null ? "" : `\`${JSON.stringify(row.default)}\``;
}

const WHO = { read: "viewer", write: "admin", operator: "operator" } as const;

const ORGANIZATION_PATH = "/api/organizations/{organization}";

const OWNERS_RAISES = /(?:\/(?:keys\/\{key\}|users\/\{user\}|groups\/\{group\}))?\/raises/;

/** The calls for temporary increases are alike for each owner of limits. */
function formatCall({ method, path, access, member, summary }: (typeof API_ROUTES)[number]): string {
  const where = path.replace(ORGANIZATION_PATH, "…").replace(OWNERS_RAISES, "[/{owner}]/raises");
  const meaning = where === path.replace(ORGANIZATION_PATH, "…") ? summary : nameOwner(summary);
  return `| \`${method} ${where}\` | ${member === true ? "member" : WHO[access]} | ${shorten(meaning)} |`;
}

const nameOwner = (summary: string): string =>
  summary.replace(/of the (?:organization|key|user|group)\b/, "of the owner");

const CALLS = ["| Call | Who | Meaning |", "|---|---|---|", ...new Set(API_ROUTES.map(formatCall))];

/** The first example of a command's help, or nothing. The page says once that `IGW_ORG` is set. */
function exampleOf(command: Command): string {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  const [, example = ""] = /^Examples:\n {2}inference-gateway (.*)$/m.exec(help) ?? [];
  return example.replace(" --org Acme", "").replaceAll("|", "\\|");
}

function listCommands(command: Command, path: readonly string[]): readonly string[] {
  const visible = command.createHelp().visibleCommands(command);
  const shown = visible.filter((one) => one.name() !== "help");
  if (shown.length > 0) return shown.flatMap((one) => listCommands(one, [...path, one.name()]));
  const [name, example] = [path.join(" "), exampleOf(command)];
  return [
    `| \`${name}\` | ${command.description()} | ${[name, ""].includes(example) ? "" : `\`${example}\``} |`,
  ];
}

const COMMANDS = ["| command | | example |", "|---|---|---|", ...listCommands(createProgram(), [])];

/** Page → marker of a table → its lines. */
const TABLES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "management-api.md": {
    calls: CALLS,
    settings: ["| Field | Of | Values | Default | Meaning |", "|---|---|---|---|---|", ...formatSettings()],
  },
  "cli.md": { commands: COMMANDS },
};

/** The page with its tables as they have to be. */
function renewTables(page: string, tables: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(tables).reduce((text, [name, lines]) => {
    const begin = `<!-- ${name} -->\n`;
    const [before = "", rest = ""] = text.split(begin);
    expect(rest, `the page has ${begin}`).not.toBe("");
    return `${before}${begin}${lines.join("\n")}\n${rest.slice(rest.indexOf("<!-- end -->"))}`;
  }, page);
}

describe("generated tables", () => {
  it.each(Object.entries(TABLES))("%s has them as they are (vitest -u renews them)", async (page, tables) => {
    const path = pathOf(page);
    await expect(renewTables(readFileSync(path, "utf8"), tables)).toMatchFileSnapshot(path);
  });
});
