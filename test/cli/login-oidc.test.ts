/** `login --oidc` with a real identity provider: the browser is one without a screen, all else is as it is. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { goesTo, readAudit, type SignInUnderTest, startSignIn } from "../admin/oidc-fixture.ts";
import { OPERATOR_TOKEN } from "../admin/admin-fixture.ts";
import { findFreePort } from "../support/free-port.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import { signInAtProvider, WebClient, type WebAnswer } from "../support/oidc/web-client.ts";
import { cookieOf, createPageClient, formTokenOf } from "../support/page-client.ts";
import { createDeferred } from "../../src/shared/event-loop/deferred.ts";
import { callCli } from "./call-cli.ts";
import { type CliResult, runCli } from "./run-cli.ts";

let under: SignInUnderTest;
let host = "";
beforeAll(async () => {
  under = await startSignIn();
  host = new URL(under.url).host;
});
afterAll(() => under.stop());

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "igw-login-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const fileOf = () => join(home, "inference-gateway", "login.json");
const environment = () => ({ XDG_CONFIG_HOME: home });
const igw = (args: string) => callCli(args.split(" "), { env: environment() });
const tokenOf = () => (JSON.parse(readFileSync(fileOf(), "utf8")) as { token: string }).token;

interface Waiting {
  /** The address that is to be opened. */
  readonly page: string;
  readonly code: string;
  readonly ended: Promise<CliResult>;
}

/** The command, once it waits for the browser; in this process, no other command runs meanwhile. */
async function begin(run = runCli): Promise<Waiting> {
  const asked = createDeferred<Omit<Waiting, "ended">>();
  let seen = "";
  const ended = run(["login", "--oidc", "--no-browser", "--admin-url", under.url], {
    env: environment(),
    onStderr(text) {
      seen += text;
      const page = /^ {2}(http\S+)$/mu.exec(seen)?.[1];
      const code = /the code ([0-9A-F]{4}-[0-9A-F]{4})\./u.exec(seen)?.[1];
      if (page !== undefined && code !== undefined) asked.resolve({ page, code });
    },
  });
  const waiting = await Promise.race([
    asked.promise,
    ended.then((result) => {
      throw new Error(`it ended: ${result.stderr}`);
    }),
  ]);
  return { ...waiting, ended };
}

/** The address of this machine that the browser is sent to, which is not opened. */
async function allow(client: WebClient, page: string): Promise<string> {
  const question = await client.get(page);
  const answer = await client.post(page, { form_token: formTokenOf(question) });
  expect(answer.status).toBe(200);
  return goesTo(answer) ?? "";
}

/** The browser goes where it is sent. */
function land(address: string): Promise<HttpAnswer> {
  const { origin, pathname, search } = new URL(address);
  return send(origin, { path: pathname + search });
}

/** From the address in the terminal by the provider to the page that asks. */
async function signInFrom(page: string, login: string): Promise<{ client: WebClient; question: WebAnswer }> {
  const client = new WebClient();
  const signInPage = await client.follow(await client.get(page));
  const link = /href="(\/sign-in\/oidc\/corp\?[^"]+)"/u.exec(signInPage.text)?.[1] ?? "";
  const start = under.url + link.replaceAll("&amp;", "&");
  const back = await client.get(await signInAtProvider(client, start, { login, dashboard: under.url }));
  return { client, question: await client.get(new URL(goesTo(back) ?? "", under.url).href) };
}

async function logIn(login: string): Promise<CliResult> {
  const { page, ended } = await begin(callCli);
  const { client } = await signInFrom(page, login);
  const answer = await land(await allow(client, page));
  expect(answer.status).toBe(200);
  return ended;
}

describe("inference-gateway login --oidc", () => {
  it("signs in by the browser and the provider, shows whom, and keeps what nobody has seen", async () => {
    const { page, code, ended } = await begin();
    const { client, question } = await signInFrom(page, "vera");
    expect(question.url).toBe(page);
    expect(question.text).toContain("as <bdi>Vera Viewer</bdi>");
    expect(question.text).toContain(code);
    const back = await allow(client, page);
    expect(back).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?code=/u);
    const landed = await land(back);
    expect(landed.text).toContain("You can close this page");
    const { code: exit, stdout, stderr } = await ended;
    expect([exit, stdout]).toEqual([
      0,
      expect.stringContaining(`Logged in at ${under.url}: viewer of "Acme", signed in as Vera Viewer.`),
    ]);
    expect(statSync(fileOf()).mode & 0o777).toBe(0o600);
    const token = tokenOf();
    const [verifier = ""] = token.replace("igw_session_", "").split(".");
    expect(`${page} ${back} ${stdout} ${stderr} ${question.text}`).not.toContain(verifier);
    expect(
      JSON.stringify(await readAudit(under.admin, `/api/organizations/${under.organization}/audit`)),
    ).not.toContain(verifier);
    const [started] = await readAudit(under.admin, `/api/organizations/${under.organization}/audit`);
    expect(started).toMatchObject({
      action: "session.started",
      actor: { issuer: under.provider.issuer, subject: "vera" },
      after: { role: "viewer", client: "command line" },
    });
  });

  it("may do what the person may, and nothing once the session is ended", async () => {
    await logIn("vera");
    expect((await igw("whoami --json")).json()).toMatchObject({
      role: "viewer",
      name: "Vera Viewer",
      token_name: null,
      organization: { id: under.organization, name: "Acme" },
    });
    expect((await igw("key list --org Acme")).code).toBe(0);
    const made = await igw("key create --org Acme --name x");
    expect([made.code, made.stderr]).toEqual([1, expect.stringContaining("Your role is viewer")]);
    const path = `/api/organizations/${under.organization}/sessions`;
    const { data } = await under.admin.ok("GET", path);
    const [newest] = data as { readonly id: string; readonly name: string }[];
    expect(newest?.name).toBe("Vera Viewer");
    await under.admin.ok("DELETE", `${path}/${newest?.id}`);
    const after = await igw("org list");
    expect([after.code, after.stderr]).toEqual([1, expect.stringContaining("This sign-in has ended")]);
  });

  it("is ended at the gateway by `logout`, of whatever role, and no other of the same person", async () => {
    for (const login of ["vera", "mia", "olga"]) {
      await logIn(login);
      const other = tokenOf();
      await logIn(login);
      const token = tokenOf();
      const { code, stdout } = await igw("logout");
      expect([code, stdout]).toEqual([
        0,
        `Deleted the login in ${fileOf()}.\nEnded the sign-in at ${under.url}.\n`,
      ]);
      const statusOf = async (own: string): Promise<number> => {
        const headers = { authorization: `Bearer ${own}` };
        return (await send(under.url, { path: "/api/whoami", headers })).status;
      };
      expect([await statusOf(token), await statusOf(other)]).toEqual([401, 200]);
      expect(statSync(fileOf(), { throwIfNoEntry: false })).toBeUndefined();
    }
  });

  it("is forgotten by `logout` when it is over already, and where the gateway cannot be told", async () => {
    await logIn("vera");
    const kept = readFileSync(fileOf(), "utf8");
    await igw("logout");
    writeFileSync(fileOf(), kept, { mode: 0o600 });
    expect((await igw("logout")).stdout).toContain(`The sign-in at ${under.url} had already ended.\n`);
    const away = `http://127.0.0.1:${await findFreePort()}`;
    writeFileSync(fileOf(), kept.replace(under.url, away), { mode: 0o600 });
    const { code, stdout, stderr } = await igw("logout");
    expect([code, stdout]).toEqual([1, `Deleted the login in ${fileOf()}.\n`]);
    expect(stderr).toContain(
      `The sign-in at ${away} couldn't be ended: The management API at ${away} can't be reached`,
    );
    expect(stderr).toContain("It expires within 8 hours");
    expect(stderr).not.toContain((JSON.parse(kept) as { token: string }).token);
    expect(statSync(fileOf(), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("is the operator's, and a member's, by their groups", async () => {
    expect((await logIn("olga")).stdout).toContain("operator, 1 organization, signed in as Olga Operator");
    expect((await igw("org list")).stdout).toContain("Acme");
    expect((await logIn("mia")).stdout).toContain('member of "Acme", signed in as Mia Member');
    const headers = { authorization: `Bearer ${tokenOf()}` };
    const own = await send(under.url, { path: `/api/organizations/${under.organization}/me`, headers });
    expect(own.json()).toMatchObject({ name: "Mia Member" });
    const others = await send(under.url, { path: `/api/organizations/${under.organization}/keys`, headers });
    expect(others.status).toBe(403);
  });

  it("ends with the user that it is", async () => {
    await logIn("max");
    const headers = { authorization: `Bearer ${tokenOf()}` };
    const me = `/api/organizations/${under.organization}/me`;
    const { id } = (await send(under.url, { path: me, headers })).json();
    const user = `/api/organizations/${under.organization}/users/${String(id)}`;
    await under.admin.ok("PATCH", user, { body: { disabled: true } });
    expect((await send(under.url, { path: me, headers })).status).toBe(401);
    await under.admin.ok("PATCH", user, { body: { disabled: false } });
    expect((await send(under.url, { path: me, headers })).status).toBe(401);
  });

  it("waits on for its own answer, whatever else comes to its port", async () => {
    const { page, ended } = await begin();
    const { client } = await under.signIn("vera");
    const back = new URL(await allow(client, page));
    const [code, state] = ["code", "state"].map((name) => back.searchParams.get(name) ?? "");
    for (const path of [
      "/",
      `/?code=${code}`,
      `/?code=${code}&state=${"x".repeat(43)}`,
      `/?code=x&state=${state}`,
      `/x?code=${code}&state=${state}`,
    ]) {
      expect((await send(back.origin, { path })).status).toBe(404);
    }
    const posted = await send(back.origin, { method: "POST", path: back.pathname + back.search });
    expect(posted.status).toBe(404);
    expect((await send(back.origin, { path: back.pathname + back.search })).status).toBe(200);
    expect((await ended).code).toBe(0);
  });

  it("keeps nothing of a code that another verifier was made for", async () => {
    const [mine, theirs] = [await begin(), await begin()];
    const { client } = await under.signIn("vera");
    const code = new URL(await allow(client, theirs.page)).searchParams.get("code") ?? "";
    const own = new URL(mine.page).searchParams;
    const origin = `http://127.0.0.1:${own.get("port") ?? ""}`;
    await send(origin, { path: `/?code=${code}&state=${own.get("state") ?? ""}` });
    const { code: exit, stderr } = await mine.ended;
    expect([exit, stderr]).toEqual([1, expect.stringContaining("This sign-in has ended")]);
    expect(statSync(fileOf(), { throwIfNoEntry: false })).toBeUndefined();
    await land(await allow(client, theirs.page));
    expect((await theirs.ended).code).toBe(0);
  });
});

describe("the page that lets a program in", () => {
  const PAGE = `/command-line?challenge=${"c".repeat(43)}&port=49152&state=${"s".repeat(43)}`;

  it.each([
    "/command-line",
    PAGE.replace("49152", "80"),
    PAGE.replace("49152", "49152@evil.example"),
    PAGE.replace("c".repeat(43), "short"),
  ])("takes no address that the command has not made: %s", async (path) => {
    const { client } = await under.signIn("vera");
    const shown = await client.get(under.url + path);
    expect([shown.status, shown.text]).toEqual([400, expect.stringContaining("login --oidc")]);
    const form_token = formTokenOf(await client.get(under.url + PAGE));
    expect((await client.post(under.url + path, { form_token })).status).toBe(400);
  });

  it("lets nobody in who is not signed in, or by a form that is not its own", async () => {
    const stranger = await new WebClient().get(under.url + PAGE);
    expect(stranger.headers.location).toBe(`/sign-in?next=${encodeURIComponent(PAGE)}`);
    const { client } = await under.signIn("vera");
    const form_token = formTokenOf(await client.get(under.url + PAGE));
    const foreign = [
      await client.post(under.url + PAGE, {}),
      await client.post(under.url + PAGE, { form_token }, { origin: "https://evil.example" }),
    ];
    expect(foreign.map(({ status }) => status)).toEqual([403, 403]);
  });

  it("is for who has signed in with a provider: a token is had without it", async () => {
    const pages = createPageClient(under.url);
    const cookie = cookieOf(await pages.signIn(OPERATOR_TOKEN));
    const shown = await pages.get(PAGE, cookie);
    expect([shown.status, shown.text]).toEqual([403, expect.stringContaining("signed in here with a token")]);
  });

  it("keeps browsers' and programs' sessions apart", async () => {
    const { client } = await under.signIn("vera");
    const secret = client.cookie(host, "igw_session") ?? "";
    for (const token of [secret, `igw_session_${secret}`, `igw_session_${secret}.${secret}`]) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await send(under.url, { path: "/api/whoami", headers })).status).toBe(401);
    }
    await logIn("vera");
    const cookie = `igw_session=${tokenOf()}`;
    expect((await createPageClient(under.url).get("/", cookie)).status).toBe(303);
  });
});
