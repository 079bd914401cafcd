import { expect, it } from "vitest";
import { createHeldLines } from "../../support/runner/held-lines.ts";

it("notices wait until the terminal is free, and progress is only told while it is", () => {
  const written: string[] = [];
  const lines = createHeldLines((line) => void written.push(line));
  lines.progress("Building Helm …");
  lines.hold();
  lines.progress("Building … 10 s");
  lines.notice("There is no Chromium.");
  expect(written).toEqual(["Building Helm …"]);
  lines.release();
  lines.progress("Building … 20 s");
  lines.notice("There is no Prometheus.");
  expect(written).toEqual([
    "Building Helm …",
    "There is no Chromium.",
    "Building … 20 s",
    "There is no Prometheus.",
  ]);
});
