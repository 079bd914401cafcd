/** A Redis that is nearly full: nothing new is stored, and requests, changes and deletions continue. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseMemory } from "../../src/data-path/store/memory.ts";
import { CENT, spend } from "../alerts/delivery-fixture.ts";
import { type AdminUnderTest, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

/** Of what the shares below are parts: what a call needs in passing is little of it. */
const FILLER_BYTES = 64 * 1024 ** 2;

async function fillTo(share: number): Promise<void> {
  const { usedBytes = 0 } = parseMemory(await admin.client.info("memory")) ?? {};
  await admin.client.config("SET", "maxmemory", String(Math.round(usedBytes / share)));
}

describe("a Redis that has used 95 % of its memory", () => {
  it("takes nothing new of the management API, and requests, changes and deletions", async () => {
    const id = await createOrganization(admin);
    const path = `/api/organizations/${id}`;
    // Made by Redis: a connection that has sent as much keeps a buffer of that size for some seconds.
    await admin.client.setrange("of-the-test", FILLER_BYTES - 1, "x");
    const key = await admin.ok("POST", `${path}/keys`, { body: { name: "one" } });
    await fillTo(0.8);
    const other = await admin.ok("POST", `${path}/keys`, { body: { name: "other" } });
    await fillTo(0.95);
    for (const [kind, body] of [
      ["keys", { name: "two" }],
      ["users", { name: "two" }],
      ["tokens", { name: "two", role: "viewer" }],
    ] as const) {
      expect(await admin.refused("POST", `${path}/${kind}`, { body })).toMatchObject({
        status: 503,
        code: "redis_full",
      });
    }
    await admin.ok("PATCH", `${path}/keys/${String(key["id"])}`, { body: { name: "renamed" } });
    expect((await admin.call("DELETE", `${path}/keys/${String(other["id"])}`)).status).toBe(204);
    await spend(admin, { organizationId: id, keyId: String(key["id"]), hash: "" }, CENT);
    expect(
      (await admin.store.readSpend(id, new Date().toISOString().slice(0, 7))).organizationMicrocents,
    ).toBe(CENT);
    await fillTo(0.5);
    await admin.ok("POST", `${path}/keys`, { body: { name: "two" } });
  });
});
