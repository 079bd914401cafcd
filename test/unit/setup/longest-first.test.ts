import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { LONG_FILES } from "../../support/longest-first.ts";
import { WAITING_FILES } from "../../support/waiting-files.ts";

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));

it.each([
  { name: "are started first", files: Object.keys(LONG_FILES) },
  { name: "run beside the faults", files: WAITING_FILES },
])("the files that $name are files that there are", ({ files }) => {
  expect(files.filter((path) => !existsSync(REPOSITORY + path))).toEqual([]);
});
