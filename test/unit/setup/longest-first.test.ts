import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { LONG_FILES } from "../../support/longest-first.ts";

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));

it("the files that are started first are files that there are", () => {
  expect(Object.keys(LONG_FILES).filter((path) => !existsSync(REPOSITORY + path))).toEqual([]);
});
