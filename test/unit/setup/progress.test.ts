import { describe, expect, it } from "vitest";
import { withProgress } from "../../../src/operation/setup/progress.js";

describe("withProgress", () => {
  it("says nothing about what is done at once", async () => {
    const lines: string[] = [];
    const value = await withProgress("Working", async () => 7, { write: (line) => void lines.push(line) });
    expect({ value, lines }).toEqual({ value: 7, lines: [] });
  });

  it("names the work once it lasts, and repeats that it goes on", async () => {
    const lines: string[] = [];
    let finish: (() => void) | null = null;
    const write = (line: string): void => {
      lines.push(line);
      if (lines.length === 3) finish?.();
    };
    const work = () => new Promise<void>((resolve) => (finish = resolve));
    await withProgress("Working", work, { write, quietMs: 1, repeatMs: 1 });
    expect(lines).toEqual(["Working …", "Working … 0 s", "Working … 0 s"]);
  });
});
