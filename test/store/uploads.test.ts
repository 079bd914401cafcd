import { describe, expect, it } from "vitest";
import { uploadBytesKey, uploadsKey } from "../../src/store/redis/keys.ts";
import type { BegunUpload, UploadLimits } from "../../src/store/types/admission.ts";
import { waitFor } from "../support/wait.ts";
import { createTestKey, withTestStore } from "./fixture.ts";

const test = withTestStore();
const LIMITS: UploadLimits = { keyBytes: 1_000, organizationBytes: 2_000, countsForMs: 60_000 };

/** Keys `a`, `b`, … of one organization, and what Redis counts for it. */
async function openUploads() {
  const { organizationId } = await createTestKey(test.store);
  let requests = 0;
  const uploadOf = (keyId: string, bytes: number, requestId = `req_${(requests += 1)}`) => ({
    organizationId,
    keyId,
    requestId,
    bytes,
  });
  return {
    uploadOf,
    begin: (keyId: string, bytes: number, limits: Partial<UploadLimits> = {}): Promise<BegunUpload> =>
      test.store.beginUpload(uploadOf(keyId, bytes), { ...LIMITS, ...limits }),
    counted: () => test.client.hgetall(uploadBytesKey(organizationId)),
    open: () => test.client.zcard(uploadsKey(organizationId)),
  };
}

describe("bodies on their way", () => {
  it("have at most what a key may have, to the byte", async () => {
    const { begin, counted } = await openUploads();
    expect([await begin("a", 600), await begin("a", 401), await begin("a", 400)]).toEqual([
      "begun",
      "key",
      "begun",
    ]);
    expect(await counted()).toEqual({ "key:a": "1000", organization: "1000" });
  });

  it("have at most what their organization may have, whichever keys they are of", async () => {
    const { begin } = await openUploads();
    const begun = [];
    for (const key of ["a", "b", "c"]) begun.push(await begin(key, 1_000));
    expect(begun).toEqual(["begun", "begun", "organization"]);
  });

  it("take one of any size beside which there is no other", async () => {
    const { begin } = await openUploads();
    expect([await begin("a", 5_000), await begin("a", 1), await begin("b", 1)]).toEqual([
      "begun",
      "key",
      "organization",
    ]);
  });

  it("give back what has come, once, and leave nothing", async () => {
    const { uploadOf, counted, open } = await openUploads();
    const [first, second] = [uploadOf("a", 400), uploadOf("a", 300)];
    for (const upload of [first, second]) await test.store.beginUpload(upload, LIMITS);
    await test.store.endUpload(first);
    await test.store.endUpload(first);
    expect(await counted()).toEqual({ "key:a": "300", organization: "300" });
    await test.store.endUpload(second);
    expect([await counted(), await open()]).toEqual([{}, 0]);
  });

  it("give back what nobody has ended when its time is over", async () => {
    const { begin } = await openUploads();
    expect(await begin("a", 1_000, { countsForMs: 500 })).toBe("begun");
    await waitFor("its time to be over", async () => (await begin("a", 1_000)) === "begun");
  });

  it("are exact under many that begin and end at a time", async () => {
    const { uploadOf, counted, open } = await openUploads();
    const run = async (index: number): Promise<boolean> => {
      const upload = uploadOf(index % 2 === 0 ? "a" : "b", 250);
      if ((await test.store.beginUpload(upload, LIMITS)) !== "begun") return false;
      const { organization = "0", ...keys } = await counted();
      expect(Number(organization)).toBeLessThanOrEqual(2_000);
      for (const bytes of Object.values(keys)) expect(Number(bytes)).toBeLessThanOrEqual(1_000);
      await test.store.endUpload(upload);
      return true;
    };
    const begun = await Promise.all(Array.from({ length: 200 }, (_, index) => run(index)));
    expect(begun.filter(Boolean).length).toBeGreaterThanOrEqual(8);
    expect([await counted(), await open()]).toEqual([{}, 0]);
  });
});
