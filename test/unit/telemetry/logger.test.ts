import { expect, it } from "vitest";
import { createLogger } from "../../../src/shared/telemetry/logger.ts";

it("writes no line that a terminal would obey, and programs read in it what was there", () => {
  const lines: string[] = [];
  const name = "a\u009b2J\u202eb\u2028";
  createLogger("test", "info", { write: (line) => lines.push(line) }).info({ name }, "told");
  expect(lines.join("")).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(lines.join(""))).toMatchObject({ name });
});
