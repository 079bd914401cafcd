/** *System*: what the examination of the host finds, for operators alone. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { found, ok, skipped } from "../../src/operation/doctor/finding.ts";
import { cookieOf, createPageClient } from "../support/page-client.ts";
import {
  type AdminUnderTest,
  createOrganization,
  createToken,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
let plain: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin({
    examine: () =>
      Promise.resolve([
        ok("workers", "2 workers respond."),
        skipped("smtp", "No mail server is configured."),
        found("redis_slow", "redis", { message: "Redis took 40 ms." }),
        found("envoy_not_live", "envoy", { message: "Envoy is draining.", since: new Date(0) }),
      ]),
  });
  plain = await startAdmin();
});
afterAll(() => Promise.all([admin, plain].map((each) => each.stop())));

async function show(of: AdminUnderTest, token: string) {
  const pages = createPageClient(of.url);
  return pages.get("/system", cookieOf(await pages.signIn(token)));
}

it("has problems first, with since when and the fix, and a summary", async () => {
  const { status, text } = await show(admin, OPERATOR_TOKEN);
  expect(status).toBe(200);
  expect(text).toContain("1 problem, 1 warning, 1 in order, 1 skipped");
  const places = ["Envoy is draining.", "Redis took 40 ms.", "2 workers respond.", "No mail server"].map(
    (words) => text.indexOf(words),
  );
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(places[0]).toBeGreaterThan(0);
  expect(text).toContain('datetime="1970-01-01T00:00:00.000Z"');
  expect(text).toMatch(/Fix: Wait, or check Envoy.{1,6}s log\./);
});

it("is in the navigation of operators alone, and only where something examines the host", async () => {
  const organization = await createOrganization(admin);
  const leadsThere = async (of: AdminUnderTest, token: string, path: string) => {
    const pages = createPageClient(of.url);
    return (await pages.get(path, cookieOf(await pages.signIn(token)))).text.includes('href="/system"');
  };
  const own = `/organizations/${organization}`;
  expect(await leadsThere(admin, OPERATOR_TOKEN, own)).toBe(true);
  expect(await leadsThere(admin, OPERATOR_TOKEN, "/organizations")).toBe(true);
  expect(await leadsThere(admin, await createToken(admin, organization, "admin"), own)).toBe(false);
  expect(await leadsThere(plain, OPERATOR_TOKEN, "/organizations")).toBe(false);
});

it("is for operators alone", async () => {
  const organization = await createOrganization(admin);
  const token = await createToken(admin, organization, "admin");
  const { status, text } = await show(admin, token);
  expect([status, text.includes("Envoy is draining")]).toEqual([403, false]);
});

it("is not there where nothing examines the host", async () => {
  expect((await show(plain, OPERATOR_TOKEN)).status).toBe(404);
});
