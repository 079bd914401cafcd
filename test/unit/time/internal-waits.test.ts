import { describe, expect, it } from "vitest";
import {
  internalWait,
  readWaitDivisor,
  WAIT_DIVISOR_VARIABLE,
} from "../../../src/shared/time/internal-waits.ts";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";

const read = (text: string) => readWaitDivisor({ [WAIT_DIVISOR_VARIABLE]: text });

describe("the scale of internal waits", () => {
  it("is true without a variable", () => {
    expect(readWaitDivisor({})).toBe(1);
    expect(internalWait(30_000)).toBe(30_000);
  });

  it("is what the variable says, from 1 to 99", () => {
    expect(["1", "9", "60"].map(read)).toEqual([1, 9, 60]);
  });

  it.each(["", "0", "100", "-1", "0.5", "1e1", " 5"])('refuses "%s"', (text) => {
    expect(() => read(text)).toThrow(
      `IGW_TEST_WAIT_DIVISOR: expected a whole number from 1 to 99, found "${text}"`,
    );
  });

  it("is that of the scripts, too", () => {
    expect(readScript("renew.lua")).toContain("local DEADLINE_MS = 30000\n");
    expect(readScript("admit.lua")).toContain("local ENTERED_MS = 60000\n");
  });
});
