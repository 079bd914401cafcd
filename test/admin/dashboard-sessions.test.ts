/** Sessions of the dashboard on two hosts that share one Redis, which goes away and comes back. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { connectStore, type StoreUnderTest } from "../store/fixture.ts";
import { cookieOf, createPageClient, formTokenOf, type PageClient } from "../support/page-client.ts";
import { type AdminUnderTest, createOrganization, OPERATOR_TOKEN, startAdmin } from "./admin-fixture.ts";

let first: AdminUnderTest;
let second: AdminUnderTest;
let shared: StoreUnderTest;
let here: PageClient;
let there: PageClient;
let organization = "";
beforeAll(async () => {
  first = await startAdmin();
  shared = await connectStore({ url: first.redis.url });
  second = await startAdmin({ store: shared.store });
  here = createPageClient(first.url);
  there = createPageClient(second.url);
  organization = await createOrganization(first);
});
afterAll(async () => {
  await second.stop();
  await shared.stop();
  await first.stop();
});

async function createToken(): Promise<{ id: string; token: string }> {
  const path = `/api/organizations/${organization}/tokens`;
  const { id, token } = await first.ok("POST", path, { body: { name: "anna", role: "admin" } });
  return { id: String(id), token: String(token) };
}

const statusOn = async (pages: PageClient, cookie: string): Promise<number> =>
  (await pages.get(`/organizations/${organization}`, cookie)).status;

async function signOut(pages: PageClient, cookie: string) {
  const page = await pages.get(`/organizations/${organization}`, cookie);
  return pages.post("/sign-out", { form_token: formTokenOf(page) }, { cookie });
}

describe("a session", () => {
  it.each(["operator", "organization"])("of the %s is known on every host", async (who) => {
    const token = who === "operator" ? OPERATOR_TOKEN : (await createToken()).token;
    const cookie = cookieOf(await here.signIn(token));
    expect([await statusOn(here, cookie), await statusOn(there, cookie)]).toEqual([200, 200]);
  });

  it.each(["operator", "organization"])("of the %s ends on every host with sign-out on one", async (who) => {
    const token = who === "operator" ? OPERATOR_TOKEN : (await createToken()).token;
    const cookie = cookieOf(await here.signIn(token));
    expect(await statusOn(there, cookie)).toBe(200);
    expect((await signOut(here, cookie)).status).toBe(303);
    expect([await statusOn(here, cookie), await statusOn(there, cookie)]).toEqual([303, 303]);
  });

  it("ends on every host when the token that it began with is deleted on one", async () => {
    const { id, token } = await createToken();
    const cookie = cookieOf(await there.signIn(token));
    await first.ok("DELETE", `/api/organizations/${organization}/tokens/${id}`);
    expect([await statusOn(here, cookie), await statusOn(there, cookie)]).toEqual([303, 303]);
  });

  it("is one of twenty of its token: the 21st sign-in ends the first, and nobody else's", async () => {
    const admin = cookieOf(await here.signIn((await createToken()).token));
    const { token } = await createToken();
    const oldest = cookieOf(await here.signIn(token));
    let newest = "";
    for (let count = 0; count < 20; count += 1) newest = cookieOf(await there.signIn(token));
    const statuses = await Promise.all([admin, oldest, newest].map((cookie) => statusOn(here, cookie)));
    expect(statuses).toEqual([200, 303, 200]);
  });

  it("ends when the same browser signs in again", async () => {
    const former = cookieOf(await here.signIn(OPERATOR_TOKEN));
    const visit = await here.get("/sign-in");
    const fields = { form_token: formTokenOf(visit), token: OPERATOR_TOKEN };
    const again = await here.post("/sign-in", fields, { cookie: `${cookieOf(visit)}; ${former}` });
    expect(again.status).toBe(303);
    expect([await statusOn(there, former), await statusOn(there, cookieOf(again))]).toEqual([303, 200]);
  });

  it("of the operator is unknown to a host with another operator's token, an organization's is not", async () => {
    const { token } = await createToken();
    const renewed = await startAdmin({ store: shared.store, operatorToken: "igw_op_renewed" });
    const pages = createPageClient(renewed.url);
    expect(await statusOn(pages, cookieOf(await here.signIn(OPERATOR_TOKEN)))).toBe(303);
    expect(await statusOn(pages, cookieOf(await here.signIn(token)))).toBe(200);
    await renewed.stop();
  });

  it("does not end when its page is opened with a form token that is not its own", async () => {
    const cookie = cookieOf(await here.signIn(OPERATOR_TOKEN));
    expect((await here.post("/sign-out", { form_token: "x" }, { cookie })).status).toBe(403);
    expect(await statusOn(there, cookie)).toBe(200);
  });
});

describe("without Redis", () => {
  it("nobody is let in or told that they are signed out, and afterwards everybody is where they were", async () => {
    const cookie = cookieOf(await here.signIn(OPERATOR_TOKEN));
    const path = `/organizations/${organization}/keys`;
    const formToken = formTokenOf(await here.get(path, cookie));
    const visit = await here.get("/sign-in");
    first.redis.kill();

    const page = await here.get(path, cookie);
    expect(page.status).toBe(503);
    expect(page.headers["retry-after"]).toBe("1");
    expect(page.headers["set-cookie"]).toBeUndefined();
    expect(page.text).toContain("You stay signed in");
    const form = { form_token: formToken, name: "kept <&>", "allowed_models.all": "yes" };
    const unsent = await here.post(path, form, { cookie });
    expect(unsent.status).toBe(503);
    expect(unsent.text).toContain("Nothing was changed");
    expect(unsent.text).toContain('name="name" value="kept &lt;&amp;&gt;"');
    const out = await here.post("/sign-out", { form_token: formToken }, { cookie });
    expect(out.status).toBe(503);
    expect(out.headers["set-cookie"]).toBeUndefined();
    const fields = { form_token: formTokenOf(visit), token: OPERATOR_TOKEN };
    const signIn = await here.post("/sign-in", fields, { cookie: cookieOf(visit) });
    expect(signIn.status).toBe(503);
    expect(signIn.headers["set-cookie"]).toBeUndefined();

    await first.redis.restart();
    await waitUntilReady(first.client, 10_000);
    await waitUntilReady(shared.client, 10_000);
    expect(await statusOn(there, cookie)).toBe(200);
    expect((await here.post(path, form, { cookie })).status).toBe(201);
  });
});
