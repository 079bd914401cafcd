import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { createCustomersDocument } from "../../../src/management/admin/openapi/customers.ts";

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
  }[];
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const PAGE = fileURLToPath(new URL("../../../docs/key-api.md", import.meta.url));
const { paths, components } = createCustomersDocument() as unknown as Document;

/** Section → its calls, and the schema whose fields it lists. */
const SECTIONS: Readonly<Record<string, { readonly calls: readonly string[]; readonly schema: string }>> = {
  key: { calls: ["/v1/key"], schema: "Key" },
  usage: { calls: ["/v1/usage"], schema: "UsageList" },
  request: { calls: ["/v1/requests", "/v1/requests/{request_id}"], schema: "Request" },
  models: { calls: ["/v1/models", "/v1/models/{model}"], schema: "Model" },
};

function formatCalls(calls: readonly string[]): string {
  const rows = calls.flatMap((path) => {
    const { summary, parameters = [] } = paths[path]?.get ?? { summary: "" };
    return [
      `| \`GET ${path}\` | ${summary} |`,
      ...parameters.map(({ name, description }) => `| \`${name}\` | ${description} |`),
    ];
  });
  return ["| call, parameter | meaning |", "|---|---|", ...rows].join("\n");
}

/** Prices have one field for each kind of token. */
const SKIPPED = /^pricing/;

function formatFields(schema: Schema, path = ""): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const full = `${path}${name}`;
    if (SKIPPED.test(full)) return [];
    const object = [field, ...(field.anyOf ?? [])].find(({ properties }) => properties !== undefined);
    const row = `| \`${full}\` | ${field.description ?? ""} |`;
    return [
      ...(field.description === undefined ? [] : [row]),
      ...(object === undefined ? [] : formatFields(object, `${full}.`)),
      ...(field.items === undefined ? [] : formatFields(field.items, `${full}[].`)),
    ];
  });
}

it("docs/key-api.md has every call and each described field (vitest -u renews it)", async () => {
  const listed = Object.values(SECTIONS).flatMap(({ calls }) => calls);
  expect(listed).toEqual(Object.keys(paths));
  let page = readFileSync(PAGE, "utf8");
  for (const [name, { calls, schema }] of Object.entries(SECTIONS)) {
    const fields = formatFields(components.schemas[schema] ?? {});
    expect(fields.length).toBeGreaterThan(3);
    const tables = [formatCalls(calls), "", "| field | meaning |", "|---|---|", ...fields].join("\n");
    const block = new RegExp(`(<!-- ${name}: begin -->\n)[^]*?(<!-- ${name}: end -->)`);
    expect(page).toMatch(block);
    page = page.replace(block, (_, begin: string, end: string) => `${begin}\n${tables}\n\n${end}`);
  }
  await expect(page).toMatchFileSnapshot(PAGE);
});
