import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { GroupKind } from "../../../src/settings/group.ts";
import { KEY_SETTINGS } from "../../../src/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../src/settings/organization.ts";
import { USER_GROUP_SETTINGS } from "../../../src/settings/user-group.ts";
import { USER_SETTINGS } from "../../../src/settings/user.ts";
import type { Setting, Settings } from "../../../src/settings/setting.ts";
import { describeSetting, isRequired } from "../../../src/settings/table.ts";

const PAGE = fileURLToPath(new URL("../../../docs/management.md", import.meta.url));

function formatRows(table: Settings, prefix = ""): string[] {
  return Object.values(table).flatMap((row) => {
    const path = `${prefix}${row.apiName}`;
    const { kind } = row;
    if (!isGroup(kind)) {
      return `| \`${path}\` | ${kind.values} | ${formatDefault(row)} | ${describeSetting(row)} |`;
    }
    return [
      `| \`${path}\` | an object | | ${describeSetting(row)} |`,
      ...formatRows(kind.members, `${path}.`),
    ];
  });
}

function isGroup(kind: Setting["kind"]): kind is GroupKind<Settings> {
  return kind.notation === "group";
}

function formatDefault(row: Setting): string {
  return isRequired(row) ? "required" : `\`${JSON.stringify(row.default)}\``;
}

/** The page with its tables as they have to be. */
function renewTables(page: string): string {
  const tables = {
    "an organization": ORGANIZATION_SETTINGS,
    "a key": KEY_SETTINGS,
    "a user": USER_SETTINGS,
    "a group": USER_GROUP_SETTINGS,
  };
  return Object.entries(tables).reduce((text, [whose, table]) => {
    const lines = ["| field | values | default | |", "|---|---|---|---|", ...formatRows(table)];
    const begin = `<!-- settings of ${whose} -->\n`;
    const [before = "", rest = ""] = text.split(begin);
    return `${before}${begin}${lines.join("\n")}\n${rest.slice(rest.indexOf("<!-- end -->"))}`;
  }, page);
}

describe("docs/management.md", () => {
  it("has every setting with its values and its default (vitest -u renews the tables)", async () => {
    await expect(renewTables(readFileSync(PAGE, "utf8"))).toMatchFileSnapshot(PAGE);
  });
});
