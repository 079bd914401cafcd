/** Pages name the cap that stops a key, whoever's it is, and lead to the field that changes it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cookieOf, createPageClient, formTokenOf } from "../support/page-client.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  createToken,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
let group = "";
let key = "";

const signIn = async (token: string) => cookieOf(await createPageClient(admin.url).signIn(token));
const read = async (path: string, cookie: string) =>
  (await createPageClient(admin.url).get(`/organizations/${organization}${path}`, cookie)).text;

beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin, { name: "Acme" });
  const made = await admin.ok("POST", `/api/organizations/${organization}/groups`, {
    body: { name: "Search", limits: [{ period: "week", kind: "cap", cents: 1 }] },
  });
  group = String(made["id"]);
  key = (await createApiKey(admin, organization, { name: "ci", group_id: group })).id;
  await admin.ok("POST", `/api/organizations/${organization}/spend-corrections`, {
    body: { amount_cents: 4, reason: "test", key_id: key },
  });
});
afterAll(() => admin.stop());

describe("the preview of a change of several", () => {
  it.each(["day", "week", "month", "total"])(
    "warns of a %s cap that its spend has reached",
    async (period) => {
      const pages = createPageClient(admin.url);
      const cookie = await signIn(OPERATOR_TOKEN);
      const form_token = formTokenOf(await pages.get("/organizations", cookie));
      const preview = async (path: string, chosen: string, amount: string) => {
        const form = {
          form_token,
          chosen,
          action: "change",
          set: "limits",
          limits: `${period} cap ${amount}`,
        };
        return (await pages.post(`${path}/chosen`, form, { cookie })).text;
      };
      const own = `/organizations/${organization}`;
      const name = { day: "daily", week: "weekly", month: "monthly", total: "total" }[period];
      for (const [path, id] of [
        [`${own}/keys`, key],
        [`${own}/groups`, group],
        ["/organizations", organization],
      ] as const) {
        expect(await preview(path, id, "0.04")).toContain(
          `Its spend has reached this ${name} hard cap: requests return 402.`,
        );
        expect(await preview(path, id, "0.05")).not.toContain("requests return 402");
      }
    },
  );
});

describe("a key that its group's cap stops", () => {
  const CAP =
    "Weekly hard cap of 0.01 USD for group &quot;Search&quot; reached: 0.04 USD spent in the week of";

  it("does not look active on its page, which names the cap and leads to its field", async () => {
    const text = await read(`/keys/${key}`, await signIn(OPERATOR_TOKEN));
    expect(text).toContain(CAP);
    expect(text).toContain("until Monday 00:00 UTC.");
    expect(text).toContain(
      `<a href="/organizations/${organization}/groups/${group}#limits">Change this cap</a>`,
    );
    expect(text).toContain("cap reached</span>");
    expect(text).not.toContain("active</span>");
  });

  it("is named on the group's page, and a viewer is offered to see the cap", async () => {
    const text = await read(
      `/groups/${group}`,
      await signIn(await createToken(admin, organization, "viewer")),
    );
    expect(text).toContain(CAP);
    expect(text).toContain("See this cap</a>");
    expect(text).not.toContain("Change this cap");
  });

  it("has alerts that lead to the cap, and say when it resets; a viewer has no count to clear", async () => {
    const operator = await read("/alerts", await signIn(OPERATOR_TOKEN));
    expect(operator).toContain(`/organizations/${organization}/groups/${group}#limits">weekly hard cap</a>`);
    expect(operator).toMatch(/, resets in \d/u);
    expect(operator).toContain('class="badge"');
    const viewer = await read("/alerts", await signIn(await createToken(admin, organization, "viewer")));
    expect(viewer).not.toContain('class="badge"');
  });
});
