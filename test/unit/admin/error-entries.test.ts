import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ADMIN_ERRORS, AdminError, type AdminErrorCode } from "../../../src/management/admin/admin-error.ts";
import type { Markup } from "../../../src/management/admin/dashboard/page.ts";
import { ErrorsPage } from "../../../src/management/admin/dashboard/pages/problem.tsx";
import {
  type ErrorEntry,
  listApiErrors,
  listManagementErrors,
} from "../../../src/management/admin/error-entries.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { formatErrorReference } from "../../../src/shared/config/documentation.ts";
import { ERRORS, type ErrorCode, errorTypeOf, GatewayError } from "../../../src/shared/contract/errors.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";

const PAGE = fileURLToPath(new URL("../../../docs/errors.md", import.meta.url));
const GOOD = readFileSync(new URL("../../fixtures/config/good.yaml", import.meta.url), "utf8");

function tableOf(entries: readonly ErrorEntry[]): string {
  const rows = entries.map(
    ({ id, code, status, meaning, remedy, retry }) =>
      `| <a id="${id}"></a>\`${code}\` | ${status} | ${meaning} | ${remedy} | ${retry} |`,
  );
  return ["| code | status | meaning | remedy | retry |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** Each type with its statuses, and the codes whose type is not that of their status. */
function tableOfTypes(entries: readonly ErrorEntry[]): string {
  const types = new Map<string, Set<string>>();
  for (const { code, status, type } of entries) {
    const usual = errorTypeOf(Number.parseInt(status, 10)) === type;
    types.set(type, (types.get(type) ?? new Set()).add(usual ? status : `\`${code}\``));
  }
  const rows = [...types].map(([type, cells]) => `| \`${type}\` | ${[...cells].toSorted().join(", ")} |`);
  return ["| type | status or code |", "|---|---|", ...rows].join("\n");
}

describe("docs/errors.md", () => {
  it("has every code with its message and type (vitest -u renews it)", async () => {
    const tables = { errors: listApiErrors(), "management errors": listManagementErrors() };
    let page = readFileSync(PAGE, "utf8");
    const contents = {
      errors: tableOf(tables.errors),
      "management errors": tableOf(tables["management errors"]),
      types: tableOfTypes(Object.values(tables).flat()),
    };
    for (const [name, table] of Object.entries(contents)) {
      const block = new RegExp(`(<!-- ${name}: begin -->\n)[^]*?(<!-- ${name}: end -->)`);
      expect(page).toMatch(block);
      page = page.replace(block, (_, begin: string, end: string) => `${begin}${table}\n${end}`);
    }
    await expect(page).toMatchFileSnapshot(PAGE);
  });
});

describe("retries", () => {
  it("are those of `x-should-retry`, but for what the operator of the gateway has to change, and slow uploads", () => {
    const others = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => {
      const entry = listApiErrors().find(({ id }) => id === code);
      return new GatewayError(code).shouldRetry !== (entry?.retry === "yes");
    });
    expect(others).toEqual(["request_timeout", "upstream_authentication_failed", "upstream_model_not_found"]);
  });

  it("help later with every cap, and with what an admin or the operator can undo", () => {
    const later = [...listApiErrors(), ...listManagementErrors()].filter(({ retry }) => retry === "later");
    expect(later.filter(({ status }) => status === "402")).toHaveLength(5);
  });

  it("come with a remedy for every code", () => {
    const entries = [...listApiErrors(), ...listManagementErrors()];
    expect(entries.filter(({ remedy }) => !/^[A-Z`].*\.$/.test(remedy))).toEqual([]);
  });

  it("have a remedy for a cap that a developer can follow", () => {
    const caps = listApiErrors().filter(({ status }) => status === "402");
    expect(caps.filter(({ remedy }) => !/sk an admin of your organization/.test(remedy))).toEqual([]);
  });
});

/** The `doc_url` of every error that can be sent, of each envelope. */
const SENT = [
  ...(Object.keys(ERRORS) as ErrorCode[]).flatMap((code) =>
    Object.values(PROTOCOLS).map((protocol) => {
      const body = JSON.parse(protocol.formatError(new GatewayError(code), null)) as {
        error: { doc_url: string };
      };
      return { name: `${code} of ${protocol.name}`, docUrl: body.error.doc_url };
    }),
  ),
  ...(Object.keys(ADMIN_ERRORS) as AdminErrorCode[]).map((code) => ({
    name: `${code} of the management API`,
    docUrl: new AdminError(code).toBody(null).error.doc_url,
  })),
  {
    name: "context_length_exceeded",
    docUrl: (
      JSON.parse(
        PROTOCOLS.chat.formatError(
          new GatewayError("invalid_parameter", { publicCode: "context_length_exceeded" }),
          null,
        ),
      ) as { error: { doc_url: string } }
    ).error.doc_url,
  },
];

describe("doc_url", () => {
  const markdown = readFileSync(PAGE, "utf8");
  const markup: Markup = ErrorsPage();

  it.each(SENT)("$name: leads to an entry of both pages", async ({ docUrl }) => {
    const html = String(await markup);
    const [page, id] = docUrl.split("#");
    expect(page).toBe("/errors");
    expect(markdown.split(`<a id="${id}"></a>`)).toHaveLength(2);
    expect(html.split(`<tr id="${id}">`)).toHaveLength(2);
  });

  it("leads to a page that shows words in backticks as code", async () => {
    const html = String(await markup);
    expect(html).toContain("Correct the field in <code>param</code>.");
    expect(html).not.toContain("`");
  });

  it.each([
    { given: "", reference: "http://127.0.0.1:10001/errors" },
    {
      given: 'dashboard: {base_url: "https://dash.example.com/"}',
      reference: "https://dash.example.com/errors",
    },
    {
      given:
        'dashboard: {base_url: "https://dash.example.com"}\ndocumentation_url: "https://docs.example.com/igw"',
      reference: "https://docs.example.com/igw/errors.html",
    },
  ])("begins with $reference", ({ given, reference }) => {
    const config = parseConfig(`${GOOD}\n${given}`, { baseDir: "/etc/gateway", env: {} });
    expect(formatErrorReference(config)).toBe(reference);
  });
});
