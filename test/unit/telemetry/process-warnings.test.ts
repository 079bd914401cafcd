import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { expect, it } from "vitest";

const PROGRAM = `
import { createLogger } from "./src/shared/telemetry/logger.ts";
import { logProcessWarnings } from "./src/shared/telemetry/process-warnings.ts";
logProcessWarnings(createLogger("test"));
process.emitWarning("of something");
setTimeout(() => process.stdout.write("alive"), 50);
`;
const ARGUMENTS = ["--import", "tsx", "--input-type=module", "--eval", PROGRAM];

it("warnings of Node are lines of the log", () => {
  const { stdout, stderr } = spawnSync(process.execPath, ARGUMENTS, { encoding: "utf8" });
  expect(stdout).toBe("alive");
  expect(JSON.parse(stderr)).toMatchObject({
    level: 40,
    component: "test",
    err: { message: "of something" },
  });
});

it.skipIf(!existsSync("/dev/full"))(
  "a warning of Node does not end a process whose log is on a full disk",
  () => {
    const full = openSync("/dev/full", "w");
    try {
      const stdout = execFileSync(process.execPath, ARGUMENTS, {
        encoding: "utf8",
        stdio: ["ignore", "pipe", full],
      });
      expect(stdout).toBe("alive");
    } finally {
      closeSync(full);
    }
  },
);
