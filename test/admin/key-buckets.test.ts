import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminUnderTest, admit, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

const keysOf = (id: string): string => `/api/organizations/${id}/keys`;

describe("the bucket of a key", () => {
  it("is shown as it is now, in the list and alone, and being looked at takes nothing", async () => {
    const id = await createOrganization(admin);
    const { key, path } = await createApiKey(admin, id, { requests_per_minute: 1 });
    await createApiKey(admin, id, { requests_per_minute: 6_000 });
    for (let request = 0; request < 3; request += 1) await admit(admin, key);
    for (let look = 0; look < 2; look += 1) {
      expect((await admin.ok("GET", path))["bucket"]).toEqual({ remaining: 7, capacity: 10 });
      expect((await admin.ok("GET", keysOf(id)))["data"]).toMatchObject([
        { bucket: { remaining: 7, capacity: 10 } },
        { bucket: { remaining: 600, capacity: 600 } },
      ]);
    }
    const changed = await admin.ok("PATCH", path, { body: { requests_per_minute: 1_000 } });
    expect(changed["bucket"]).toMatchObject({ capacity: 100 });
  });
});
