import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/event-loop/deferred.ts";
import type { BegunUpload } from "../../../src/store/types/admission.ts";
import { away, KEY, openAdmission } from "./admit-request-fixture.ts";

describe("counts a body on its way", () => {
  const bodyOf = (bytes: number | null) => ({
    headers: {
      authorization: `Bearer ${KEY}`,
      ...(bytes === null ? {} : { "content-length": `${bytes}` }),
    },
  });

  it.each([
    { what: "a small one not at all", bytes: 65_535, counted: [] },
    { what: "one from 64 KiB on by what it declares", bytes: 65_536, counted: [65_536] },
    { what: "one of unknown length for the most that it may have", bytes: null, counted: [1_000_000] },
  ])("$what", async ({ bytes, counted }) => {
    const { send, seen } = openAdmission();
    expect((await send(bodyOf(bytes))).kind).toBe("admitted");
    expect(seen.begun).toEqual(counted);
  });

  it("but for one that says to be larger than Envoy takes, which is refused before it is sent", async () => {
    const { refusal, seen } = openAdmission();
    expect(await refusal(bodyOf(1_000_001))).toBe("413 request_too_large");
    expect([seen.begun, seen.left.length]).toEqual([[], 1]);
  });

  it("and asks for none where the method has none", async () => {
    const { send, seen } = openAdmission();
    await send({ method: "GET", path: "/v1/models" });
    expect(seen.begun).toEqual([]);
  });

  it.each(["key", "organization"] as const)(
    "until the %s may have no more, and leaves Redis",
    async (full) => {
      const { refusal, seen } = openAdmission({ beginUpload: () => Promise.resolve(full) });
      expect(await refusal(bodyOf(100_000))).toBe("429 upload_limit_exceeded");
      expect(seen.left).toHaveLength(1);
      expect(seen.arrived).toEqual([]);
    },
  );

  it("no longer once its client has gone while it was asked for", async () => {
    const begun = createDeferred<BegunUpload>();
    const { send, seen } = openAdmission({ beginUpload: () => begun.promise });
    const asker = { isOver: false };
    const verdict = send(bodyOf(100_000), asker);
    asker.isOver = true;
    begun.resolve("begun");
    await verdict;
    expect(seen.arrived).toMatchObject([{ keyId: "key_1", requestId: "req_1", bytes: 100_000 }]);
  });

  it.each([
    { when: "Redis fails", script: { beginUpload: away }, logged: 1 },
    {
      when: "Redis is known to be out of reach",
      script: { isOutOfReach: true, beginUpload: away },
      logged: 0,
    },
  ])("not where $when: it is admitted all the same", async ({ script, logged }) => {
    const { send, seen } = openAdmission(script);
    expect((await send(bodyOf(100_000))).kind).toBe("admitted");
    expect(seen.logged).toHaveLength(logged);
  });
});
