import { describe, expect, it } from "vitest";
import { requestQuery } from "../../../../src/management/admin/schemas/requests.ts";
import { createProgram } from "../../../../src/operation/cli/program.ts";

describe("requests list", () => {
  it("has an option for every filter of the API and of the dashboard's page", () => {
    const group = createProgram().commands.find((command) => command.name() === "requests");
    const list = group?.commands.find((command) => command.name() === "list");
    const options = new Set(list?.options.map((option) => option.attributeName()));
    const filters = Object.keys(requestQuery.shape).map((name) => name.replace(/_id$/, ""));
    expect(filters).toContain("model");
    expect(filters.filter((name) => !options.has(name))).toEqual([]);
  });
});
