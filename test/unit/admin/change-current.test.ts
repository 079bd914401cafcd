import { describe, expect, it } from "vitest";
import { changeCurrent } from "../../../src/management/admin/api/answers.ts";

const conflict = (version: number) => ({ outcome: "version_conflict" as const, current: { version } });

describe("changeCurrent", () => {
  it("makes the change again of what others have left, and of its version", async () => {
    const tried: number[] = [];
    const answer = await changeCurrent({ version: 1 }, null, async (current, expectedVersion) => {
      tried.push(current.version, expectedVersion);
      return expectedVersion < 3 ? conflict(expectedVersion + 1) : { status: 200 };
    });
    expect(answer).toEqual({ status: 200 });
    expect(tried).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it("refuses a version that `If-Match` does not name, before anything is changed", async () => {
    const change = changeCurrent({ version: 2 }, [1], async () => expect.unreachable());
    await expect(change).rejects.toMatchObject({ code: "version_conflict", headers: { etag: '"2"' } });
  });

  it("refuses what others have changed meanwhile when `If-Match` names the former version", async () => {
    const change = changeCurrent({ version: 1 }, [1], async () => conflict(2));
    await expect(change).rejects.toMatchObject({ code: "version_conflict", headers: { etag: '"2"' } });
  });

  it("gives up with 409 when others change it all the time, without blaming `If-Match`", async () => {
    let attempts = 0;
    const change = changeCurrent({ version: 1 }, null, async (_current, expectedVersion) => {
      attempts += 1;
      return conflict(expectedVersion + 1);
    });
    await expect(change).rejects.toMatchObject({ code: "change_conflict" });
    expect(attempts).toBe(5);
  });
});
