/** Limits as rows, on each of the four owners. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminUnderTest, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
let paths: readonly string[] = [];
beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
  const path = `/api/organizations/${organization}`;
  const make = async (kind: string) =>
    `${path}/${kind}/${String((await admin.ok("POST", `${path}/${kind}`, { body: { name: "Any" } }))["id"])}`;
  const { id } = await createApiKey(admin, organization, { name: "ci" });
  paths = [path, `${path}/keys/${id}`, await make("users"), await make("groups")];
});
afterAll(() => admin.stop());

const row = (period: string, kind: string, cents: number) => ({ period, kind, cents });
const patch = (path: string, body: object) => admin.call("PATCH", path, { body });

describe("limits", () => {
  it("are taken whole by every owner, and shown in one order", async () => {
    const rows = [
      row("total", "cap", 5),
      row("day", "budget", 1),
      row("month", "cap", 3),
      row("day", "cap", 2),
    ];
    const ordered = [rows[3], rows[1], rows[2], rows[0]];
    for (const path of paths) {
      expect((await patch(path, { limits: rows })).json()).toMatchObject({ limits: ordered });
      expect(await admin.ok("GET", path)).toMatchObject({ limits: ordered });
      expect((await patch(path, { limits: [] })).json()).toMatchObject({ limits: [] });
    }
  });

  it("have the month's two under their old names, too, on keys and organizations", async () => {
    for (const path of paths.slice(0, 2)) {
      const both = [row("month", "cap", 30), row("month", "budget", 20)];
      expect((await patch(path, { limits: both })).json()).toMatchObject({
        hard_cap_cents: 30,
        budget_cents: 20,
      });
      expect((await patch(path, { hard_cap_cents: 40 })).json()).toMatchObject({
        limits: [row("month", "cap", 40), row("month", "budget", 20)],
      });
      // Whole means whole.
      expect((await patch(path, { limits: [row("day", "cap", 1)] })).json()).toMatchObject({
        hard_cap_cents: null,
        budget_cents: null,
      });
      const refused = await patch(path, { limits: [row("month", "cap", 30)], hard_cap_cents: 31 });
      expect([refused.status, refused.json()]).toMatchObject([
        400,
        { error: { message: expect.stringContaining("hard_cap_cents") as string } },
      ]);
      expect((await patch(path, { limits: [] })).status).toBe(200);
    }
  });

  it.each([
    [[row("week", "cap", 1), row("week", "cap", 2)], "limits", "at most one of each period and kind"],
    [[row("year", "cap", 1)], "period", "expected day, week, month or total"],
    [[row("week", "limit", 1)], "kind", "expected cap or budget"],
    [[row("week", "cap", -1)], "cents", "a whole number of cents"],
    [[row("week", "cap", 0.5)], "cents", "a whole number of cents"],
    ["week cap 1", "limits", "a list of limits"],
  ])("are refused with the field's name where they are none: %j", async (limits, field, expected) => {
    for (const path of paths) {
      const refused = await patch(path, { limits });
      expect(refused.status).toBe(400);
      const { message } = refused.json()["error"] as { message: string };
      expect(message).toContain(field);
      expect(message).toContain(expected);
    }
  });

  it("of members are an organization's and a group's alone", async () => {
    const body = { member_limits: [row("week", "cap", 2000)] };
    const [ofOrganization = "", ofKey = "", ofUser = "", ofGroup = ""] = paths;
    expect((await patch(ofOrganization, body)).json()).toMatchObject(body);
    expect((await patch(ofGroup, body)).json()).toMatchObject(body);
    expect((await patch(ofKey, body)).status).toBe(400);
    expect((await patch(ofUser, body)).status).toBe(400);
  });

  it("of new keys are the organization's defaults", async () => {
    const [path = ""] = paths;
    const limits = [row("day", "cap", 500)];
    await patch(path, { key_defaults: { limits } });
    expect(await admin.ok("POST", `${path}/keys`, { body: { name: "new" } })).toMatchObject({ limits });
  });
});
