import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  createOrganization,
  createToken,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";
import { cookieOf, createPageClient, formTokenOf } from "../support/page-client.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

const pathOf = (id: string): string => `/api/organizations/${id}`;
const create = (name: string) =>
  admin.refused("POST", "/api/organizations", { body: { name, currency: "USD" } });

describe("a second organization of one name", () => {
  it("is refused with 409, which names the field and the organization that has the name", async () => {
    const id = await createOrganization(admin, { name: "Łódź Works" });
    for (const name of ["Łódź Works", " ŁÓDŹ   works "]) {
      const refusal = await create(name);
      expect(refusal).toMatchObject({ status: 409, code: "organization_name_taken", param: "name" });
      expect(refusal.message).toContain(`"Łódź Works" (${id})`);
    }
  });

  it("is refused when one is renamed, and nothing of that change is made", async () => {
    const id = await createOrganization(admin, { name: "First" });
    const other = await createOrganization(admin, { name: "Second" });
    const body = { name: "FIRST", budget_cents: 5 };
    const refusal = await admin.refused("PATCH", pathOf(other), { body });
    expect(refusal).toMatchObject({ status: 409, code: "organization_name_taken", param: "name" });
    expect(refusal.message).toContain(id);
    expect(await admin.ok("GET", pathOf(other))).toMatchObject({ name: "Second", budget_cents: null });
    expect((await admin.ok("GET", `${pathOf(other)}/audit`))["data"]).toHaveLength(1);
  });

  it("is refused to an organization's token without a word of whose the name is", async () => {
    const id = await createOrganization(admin, { name: "Hidden" });
    const own = await createOrganization(admin, { name: "Curious" });
    const token = await createToken(admin, own, "admin");
    const refusal = await admin.refused("PATCH", pathOf(own), { token, body: { name: "hidden" } });
    expect(refusal).toMatchObject({ status: 409, code: "organization_name_taken", param: "name" });
    expect(refusal.message).not.toContain(id);
    expect(refusal.message).not.toContain("Hidden");
  });

  it("is told beside its field in the dashboard, with the form as it was sent", async () => {
    await createOrganization(admin, { name: "Twice" });
    const pages = createPageClient(admin.url);
    const cookie = cookieOf(await pages.signIn(OPERATOR_TOKEN));
    const form_token = formTokenOf(await pages.get("/organizations", cookie));
    const form = { form_token, name: "twice", currency: "EUR" };
    const answer = await pages.post("/organizations", form, { cookie });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("has this name");
    expect(answer.text).toContain('value="twice"');
  });
});
