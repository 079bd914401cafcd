/** Who gets in, and what a form must carry: over plain HTTP, without a browser. */
import { beforeAll, describe, expect, it } from "vitest";
import { type HttpAnswer, send } from "../support/http.ts";
import { cookieOf, cookiesOf, createPageClient, formTokenOf } from "../support/page-client.ts";
import { withStack } from "../support/with-stack.ts";

describe("access to the dashboard", () => {
  const getStack = withStack({
    upstreams: [{ name: "local", url: "http://127.0.0.1:9", path_prefix: "/v1" }],
  });
  let own = "";
  let other = "";
  let token = "";
  beforeAll(async () => {
    const stack = getStack();
    const make = async (name: string) =>
      String((await stack.admin("POST", "/api/organizations", { name, currency: "USD" }))["id"]);
    own = await make("Own");
    other = await make("Other");
    token = String(
      (await stack.admin("POST", `/api/organizations/${own}/tokens`, { name: "t", role: "admin" }))["token"],
    );
  });

  const pages = () => createPageClient(getStack().adminUrl);
  const get = (path: string, cookie = "") => pages().get(path, cookie);
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    pages().post(path, form, headers);
  const signIn = (given = token, form: Record<string, string> = {}): Promise<HttpAnswer> =>
    pages().signIn(given, form);

  it("sends whoever has no session to sign in, and back afterwards", async () => {
    const answer = await get(`/organizations/${own}/keys`);
    expect(answer.status).toBe(303);
    expect(answer.headers["location"]).toBe(
      `/sign-in?next=${encodeURIComponent(`/organizations/${own}/keys`)}`,
    );
    const signedIn = await signIn(token, { next: `/organizations/${own}/keys` });
    expect(signedIn.headers["location"]).toBe(`/organizations/${own}/keys`);
  });

  it.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "/.//evil.example",
    "/..//evil.example/",
    "/./\\evil.example",
    "javascript:alert(1)",
  ])("never leads to another site: %s", async (next) => {
    expect((await signIn(token, { next })).headers["location"]).toBe("/");
  });

  it("keeps the session in a cookie that scripts and other sites do not get, without the token in it", async () => {
    const answer = await signIn();
    const cookie = cookiesOf(answer).find((one) => one.startsWith("igw_session="));
    expect(cookie).toMatch(/; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/u);
    expect(cookie).not.toContain(token);
    const page = await get(`/organizations/${own}/tokens`, cookieOf(answer));
    expect(page.status).toBe(200);
    expect(page.text).not.toContain(token);
  });

  it("marks the cookie as Secure where the page came encrypted", async () => {
    const answer = await send(getStack().adminUrl, {
      path: "/sign-in",
      headers: { "x-forwarded-proto": "https" },
    });
    expect(cookiesOf(answer)[0]).toMatch(/^__Host-igw_visit=.*; Path=\/;.*; Secure/u);
  });

  it("takes no cookie that was changed", async () => {
    const cookie = cookieOf(await signIn());
    const changed = cookie.replace(
      /igw_session=(.)/u,
      (_, first: string) => `igw_session=${first === "A" ? "B" : "A"}`,
    );
    expect((await get("/", changed)).headers["location"]).toContain("/sign-in");
  });

  it("refuses a form of another site, without an origin, without the form token, or of another session", async () => {
    const cookie = cookieOf(await signIn());
    const path = `/organizations/${own}/keys`;
    const formToken = formTokenOf(await get(path, cookie));
    const foreign = formTokenOf(await get(path, cookieOf(await signIn())));
    const good = { form_token: formToken, name: "made", "allowed_models.all": "yes" };
    const statuses = [
      await post(path, good, { cookie, origin: "https://evil.example" }),
      await post(path, good, { cookie, origin: "null" }),
      await post(path, good, { cookie, "sec-fetch-site": "cross-site" }),
      await post(path, { name: "made" }, { cookie }),
      await post(path, { ...good, form_token: foreign }, { cookie }),
    ].map((answer) => answer.status);
    expect(statuses).toEqual([403, 403, 403, 403, 403]);
    expect((await getStack().admin("GET", `/api${path}`))["data"]).toEqual([]);
    expect((await post(path, good, { cookie })).status).toBe(201);
  });

  it("shows nothing of another organization, as if it were not there", async () => {
    const cookie = cookieOf(await signIn());
    for (const path of [
      "",
      "/keys",
      "/settings",
      "/usage",
      "/requests",
      "/alerts",
      "/audit",
      "/tokens",
      "/usage.csv",
    ]) {
      expect((await get(`/organizations/${other}${path}`, cookie)).status).toBe(404);
    }
    const formToken = formTokenOf(await get(`/organizations/${own}/keys`, cookie));
    const answer = await post(
      `/organizations/${other}/keys`,
      { form_token: formToken, name: "x" },
      { cookie },
    );
    expect(answer.status).toBe(404);
    expect((await get("/organizations", cookie)).headers["location"]).toBe(`/organizations/${own}`);
  });

  it("lets a viewer change nothing, whatever it sends", async () => {
    const made = await getStack().admin("POST", `/api/organizations/${own}/tokens`, {
      name: "v",
      role: "viewer",
    });
    const cookie = cookieOf(await signIn(String(made["token"])));
    const formToken = formTokenOf(await get(`/organizations/${own}/keys`, cookie));
    for (const path of ["keys", "settings", "tokens", "keys/revoke-all"]) {
      const form = { form_token: formToken, name: "x", role: "admin", sure: "yes" };
      expect((await post(`/organizations/${own}/${path}`, form, { cookie })).status).toBe(403);
    }
  });

  it("tells a viewer that it may not before what is wrong with its form", async () => {
    const made = await getStack().admin("POST", `/api/organizations/${own}/tokens`, {
      name: "curious",
      role: "viewer",
    });
    const cookie = cookieOf(await signIn(String(made["token"])));
    const form = { form_token: formTokenOf(await get(`/organizations/${own}/keys`, cookie)) };
    const answers = [
      await post(`/organizations/${own}/usage/corrections`, { ...form, amount: "many" }, { cookie }),
      await post(`/organizations/${own}/keys`, { ...form, hard_cap_cents: "many" }, { cookie }),
      await post("/organizations", { ...form, hard_cap_cents: "many" }, { cookie }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  });

  it.each(["x", "0-0", "99999999999999999999-0"])(
    "refuses to list alerts behind what is no place in the list: %s",
    async (after) => {
      const cookie = cookieOf(await signIn());
      const { status, text } = await get(`/organizations/${own}/alerts?after=${after}`, cookie);
      expect([status, text]).toEqual([400, expect.stringContaining("expected `next` of the previous page")]);
    },
  );

  it("shows no alert where the organization has turned the channel off", async () => {
    const stack = getStack();
    const quiet = String(
      (
        await stack.admin("POST", "/api/organizations", {
          name: "Quiet",
          currency: "USD",
          budget_cents: 1,
          notifications: { dashboard: true },
        })
      )["id"],
    );
    await stack.admin("POST", `/api/organizations/${quiet}/spend-corrections`, {
      amount_cents: 2,
      reason: "reach the budget",
    });
    const made = await stack.admin("POST", `/api/organizations/${quiet}/tokens`, {
      name: "q",
      role: "admin",
    });
    const cookie = cookieOf(await signIn(String(made["token"])));
    const paths = [`/organizations/${quiet}`, `/organizations/${quiet}/alerts`];
    const read = () => Promise.all(paths.map(async (path) => (await get(path, cookie)).text));
    for (const text of await read()) expect(text).toContain("0.01 USD");
    await stack.admin("PATCH", `/api/organizations/${quiet}`, {
      budget_cents: null,
      notifications: { dashboard: false },
    });
    for (const text of await read()) {
      expect(text).not.toContain("0.01 USD");
      expect(text).not.toContain('class="badge"');
    }
    const listed = await stack.admin("GET", `/api/organizations/${quiet}/alerts`);
    expect(listed["data"]).not.toEqual([]);
  });

  it("ends a session with sign-out, also for who has kept its cookie", async () => {
    const cookie = cookieOf(await signIn());
    const formToken = formTokenOf(await get(`/organizations/${own}`, cookie));
    expect((await post("/sign-out", { form_token: "x" }, { cookie })).status).toBe(403);
    expect((await post("/sign-out", { form_token: formToken }, { cookie })).headers["location"]).toBe(
      "/sign-in",
    );
    expect((await get(`/organizations/${own}`, cookie)).status).toBe(303);
  });

  it("answers where no page is with the header for who is signed in, and without it for a stranger", async () => {
    const cookie = cookieOf(await signIn());
    const [signedIn, stranger] = [await get("/nowhere", cookie), await get("/nowhere")];
    for (const { status, text } of [signedIn, stranger]) {
      expect(status).toBe(404);
      expect(text).toContain("Unknown page.");
    }
    expect(signedIn.text).toContain("t (admin)");
    expect(signedIn.text).toContain("Sign out");
    expect(stranger.text).not.toContain("Sign out");
    expect((await get("/nowhere", "igw_session=changed")).headers["location"]).toBe(
      "/sign-in?next=%2Fnowhere",
    );
  });

  it("carries the security policy on pages, redirects, errors and files, and has no inline script or style", async () => {
    const cookie = cookieOf(await signIn());
    const paths = [
      "/",
      "/sign-in",
      "/errors",
      "/status",
      `/organizations/${own}`,
      `/organizations/${own}/try`,
      "/nowhere",
      "/assets/dashboard.js",
    ];
    for (const path of paths) {
      for (const answer of [await get(path), await get(path, cookie)]) {
        expect(answer.headers["content-security-policy"]).toContain("default-src 'self'");
        expect(answer.headers["x-frame-options"]).toBe("DENY");
        expect(answer.text).not.toMatch(/<style|<script(?! type="module" src=)|\sstyle="|\son\w+="/u);
      }
    }
  });

  it("refuses an API key and a wrong token, and after ten wrong tokens lets nobody try for a minute", async () => {
    const answers = [];
    const apiKey = await signIn("sk-igw-0123456789");
    expect(apiKey.text).toContain("This API key is mistyped, unknown, disabled or expired");
    answers.push(apiKey.status);
    // A mistyped API key is counted apart.
    for (let attempt = 0; attempt < 10; attempt += 1) answers.push((await signIn(`wrong-${attempt}`)).status);
    expect(new Set(answers)).toEqual(new Set([401]));
    const refused = await signIn();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.text).toContain("Too many sign-ins");
  });
});
