import { readdirSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { ADMIN_ERRORS, AdminError, type AdminErrorCode } from "../../../src/admin/admin-error.ts";
import { API_ROUTES } from "../../../src/admin/api/routes.ts";
import { USAGE_COLUMNS } from "../../../src/admin/usage-export/usage-table.ts";
import { createProgram } from "../../../src/cli/program.ts";

const page = readFileSync(new URL("../../../docs/management.md", import.meta.url), "utf8");
const WHO = { read: "every token", write: "admin", operator: "operator" } as const;
/** Nothing of a token is ever changed. */
const TOKENS_STAY = "token.updated";
const MANAGEMENT = [
  "login",
  "logout",
  "whoami",
  "completion",
  "org",
  "key",
  "user",
  "group",
  "limit",
  "raise",
  "usage",
  "requests",
  "token",
  "alerts",
  "webhook",
  "audit",
  "catalog",
];

/** "org create", "audit": every command of the management groups. */
function listCommands(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(" ")];
  return command.commands
    .filter((child) => path.length > 0 || MANAGEMENT.includes(child.name()))
    .flatMap((child) => listCommands(child, [...path, child.name()]));
}

describe("docs/management.md", () => {
  it("has every error, and no other", () => {
    const rows = Array.from(
      page.matchAll(/^\| (\d{3}) \| (\w+) \| (\w+) \|$/gm),
      ([, status, type, code]) => [code, { status: Number(status), type }],
    );
    const codes = Object.keys(ADMIN_ERRORS) as AdminErrorCode[];
    const known = codes.map((code) => {
      const { status, type } = new AdminError(code);
      return [code, { status, type }];
    });
    expect(rows).toEqual(known);
  });

  it("has every column of the tables of usage, in their order", () => {
    const table = /#### Tables of usage\n[^]*?\n\n(\|[^]*?)\n\n/.exec(page)?.[1] ?? "";
    const columns = table
      .split("\n")
      .slice(2)
      .flatMap((line) => Array.from((line.split("|")[1] ?? "").matchAll(/`(\w+)`/g), ([, name]) => name));
    expect(columns).toEqual(USAGE_COLUMNS.map(([name]) => name));
  });

  it("has every call with who may make it, and no other", () => {
    const rows = Array.from(
      page.matchAll(/^\| `((?:GET|POST|PUT|PATCH|DELETE) \/api\S+)` \| ([^|]+) \|/gm),
      ([, call = "", who = ""]) => `${call}: ${who}`,
    );
    const known = API_ROUTES.map(
      ({ method, path, access, member }) => `${method} ${path}: ${member === true ? "member" : WHO[access]}`,
    );
    expect(rows.sort()).toEqual(known.sort());
  });

  it("has every command, and no other", () => {
    const rows = Array.from(
      page.matchAll(/^\| `inference-gateway ([\w -]+)` \|/gm),
      ([, command]) => command ?? "",
    );
    expect(rows.sort()).toEqual(listCommands(createProgram()).sort());
  });

  it("has every action of the audit log", () => {
    const folder = new URL("../../../src/admin/api/", import.meta.url);
    const source = readdirSync(folder)
      .map((name) => readFileSync(new URL(name, folder), "utf8"))
      .join("");
    const listed = Array.from(source.matchAll(/entriesOf\("([a-z]+)"/g), ([, type = ""]) => type);
    const actions = [
      ...listed.flatMap((type) => [`${type}.created`, `${type}.updated`, `${type}.deleted`]),
      ...Array.from(source.matchAll(/action: "([a-z]+\.[a-z]+)"/g), ([, action = ""]) => action),
    ].filter((action) => action !== TOKENS_STAY);
    expect(actions.length).toBeGreaterThanOrEqual(20);
    expect(actions.filter((action) => !page.includes(`\`${action}\``))).toEqual([]);
  });
});
