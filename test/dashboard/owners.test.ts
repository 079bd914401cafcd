import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import type { Stack } from "../support/stack.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectStillAccessible,
  openSettings,
  signIn,
  SKIPPED_WHY,
  withBrowser,
} from "./browser.ts";
import { openOwnOrganization } from "./own-organization.ts";

describe.skipIf(CHROMIUM === null)(`users and groups in the dashboard${SKIPPED_WHY}`, () => {
  const chat = withSharedChatStack();
  const getStack = (): Stack => chat.stack;
  const open = withBrowser();
  let page: Page;
  let base = "";
  let api = "";
  beforeAll(async () => {
    ({ page, api, base } = await openOwnOrganization(getStack(), open));
  });

  const make = async (kind: "users" | "groups" | "keys", body: object): Promise<string> =>
    String((await getStack().admin("POST", `${api}/${kind}`, body))["id"]);
  const read = (path: string) => getStack().admin("GET", `${api}/${path}`);
  const status = async (key: string): Promise<number> =>
    (await getStack().send({ path: "/v1/key", key })).status;

  it("say what a user and a group are for where there is none", async () => {
    await page.goto(`${base}/users`);
    expect(await page.locator(".empty").textContent()).toContain("A user is a person or service");
    await page.getByRole("navigation").getByRole("link", { name: "Groups" }).click();
    await page.getByRole("heading", { name: "Groups", exact: true }).waitFor();
    expect(await page.locator(".empty").textContent()).toContain("A group is a team");
  });

  it("are made, put together, changed and found", async () => {
    await page.goto(`${base}/groups`);
    await page.getByLabel("Name").fill("Research");
    await page.getByRole("button", { name: "Create the group" }).click();
    await page.getByText("Created.", { exact: true }).waitFor();
    await page.goto(`${base}/users`);
    await page.getByLabel("Name").fill("Ann Smith");
    await page.getByLabel("Email address").fill("nobody");
    await page.getByRole("button", { name: "Create the user" }).click();
    expect(await page.locator("#email-problem").textContent()).toContain("an email address");
    await page.getByLabel("Email address").fill("ann@example.com");
    await page.getByLabel("Group").fill("Nowhere");
    await page.getByRole("button", { name: "Create the user" }).click();
    expect(await page.locator("#group_id-problem").textContent()).toContain("unknown group");
    await page.getByLabel("Group").fill("Research");
    await page.getByRole("button", { name: "Create the user" }).click();
    await page.getByText("In the group Research").waitFor();
    expect(await page.getByLabel("Group").inputValue()).toMatch(/^Research \(group_/);
    await openSettings(page);
    await page.getByLabel("Note").fill("on leave");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await read("users")).toMatchObject({
      data: [{ name: "Ann Smith", email: "ann@example.com", note: "on leave", group: { name: "Research" } }],
    });
    await expectStillAccessible(page);
    await page.getByRole("link", { name: "Research" }).click();
    await page.getByText("1 user, 0 keys of its own").waitFor();
    await page.getByRole("link", { name: "Ann Smith" }).click();
    await openSettings(page);
    await page.getByLabel("Group").fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("In no group").waitFor();
  });

  it("are searched, once there are many", async () => {
    for (let index = 0; index < 16; index += 1) await make("users", { name: `Tester ${index}` });
    await page.goto(`${base}/users`);
    await page.getByLabel("Find").fill("tester 15");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("link", { name: "Tester 15" }).waitFor();
    expect(await page.getByRole("link", { name: /^Tester/ }).count()).toBe(1);
    await page.getByLabel("Find").fill("nobody");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("No user matches these filters.").waitFor();
  });

  it("own a key that is made from a user's page, and a suggestion is taken where two have one name", async () => {
    const [first, second] = [await make("users", { name: "Twin" }), await make("users", { name: "Twin" })];
    await page.goto(`${base}/users/${first}`);
    await page.getByText("No API keys of this user yet.").waitFor();
    await page.getByRole("link", { name: "Create an API key" }).click();
    expect(await page.getByLabel("User").inputValue()).toBe(`Twin (${first})`);
    await page.getByLabel("Name").fill("laptop");
    await page.getByLabel("User").fill("Twin");
    await page.getByRole("button", { name: "Create the key" }).click();
    expect(await page.locator("#user_id-problem").textContent()).toContain("several users have this name");
    // The page's script listens once it is loaded.
    await page.waitForLoadState();
    await page.getByLabel("User").pressSequentially(" ");
    const suggested = page.locator("#user_id-suggestions option");
    await suggested.nth(1).waitFor({ state: "attached" });
    const values = await suggested.evaluateAll((all) => all.map((one) => one.getAttribute("value") ?? ""));
    expect(new Set(values)).toEqual(new Set([`Twin (${first})`, `Twin (${second})`]));
    await page.getByLabel("User").fill(`Twin (${second})`);
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByText("it is shown only once").waitFor();
    expect(await read(`keys?user_id=${second}`)).toMatchObject({ data: [{ name: "laptop" }] });
    await page.goto(`${base}/users/${second}`);
    await page.getByRole("link", { name: "laptop" }).click();
    await page.getByText("User Twin").waitFor();
    await openSettings(page);
    await page.getByLabel("Note").fill("moved");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await read(`keys?user_id=${second}`)).toMatchObject({ data: [{ note: "moved" }] });
  });

  it("are not written over where somebody else has changed them meanwhile", async () => {
    for (const kind of ["users", "groups"] as const) {
      const id = await make(kind, { name: `contested ${kind}` });
      await page.goto(`${base}/${kind}/${id}`);
      await getStack().admin("PATCH", `${api}/${kind}/${id}`, { note: "theirs" });
      await openSettings(page);
      await page.getByLabel("Note").fill("mine");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText(/Another person changed this (?:user|group) in the meantime/).waitFor();
      expect(await page.getByLabel("Note").inputValue()).toBe("theirs");
    }
  });

  it("change together after a preview: users get a group and are disabled, groups get limits for members", async () => {
    const group = await make("groups", { name: "Bulk" });
    const names = ["Bulk one", "Bulk two"];
    const ids = [
      await make("users", { name: names[0] }),
      await make("users", { name: names[1], group_id: group }),
    ];
    const choose = async (list: string, action: string) => {
      await page.goto(`${base}/${list}?search=Bulk`);
      await page.getByLabel("Choose all on this page").check();
      await page.getByRole("button", { name: action }).click();
    };
    await choose("users", "Change…");
    await page.getByLabel("Change Group").check();
    await page.getByLabel("Group", { exact: true }).fill("Nowhere");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.locator("#group_id-problem").getByText("unknown group").waitFor();
    await page.getByLabel("Group", { exact: true }).fill("Bulk");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("1 user will change, 1 will not. Applies from the next request.").waitFor();
    await page.getByRole("row", { name: "Bulk one Group: none → Bulk" }).waitFor();
    await page.getByRole("row", { name: "Bulk two no change" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Change 1 user" }).click();
    await page.getByText("Changed. Applies from the next request.").waitFor();
    await choose("users", "Disable…");
    await page
      .getByText("2 users will change. Requests with API keys of disabled users return 403")
      .waitFor();
    await page.getByRole("row", { name: "Bulk two active → disabled" }).waitFor();
    await page.getByRole("button", { name: "Disable 2 users" }).click();
    await page.getByText("Changed. Applies from the next request.").waitFor();
    for (const id of ids) {
      expect(await read(`users/${id}`)).toMatchObject({ group_id: group, disabled: true });
    }

    await make("groups", { name: "Bulk too" });
    await choose("groups", "Change…");
    await page.getByLabel("Change Limits of each member").check();
    await page.getByLabel("Limits of each member, row 1: amount").fill("7.50");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("2 groups will change.").waitFor();
    await page.getByRole("row", { name: "Bulk too Limits of each member: none → month cap 7.50" }).waitFor();
    expect(await read(`groups/${group}`)).toMatchObject({ member_limits: [] });
    await page.getByRole("button", { name: "Change 2 groups" }).click();
    await page.getByText("Changed. Applies from the next request.").waitFor();
    expect(await read("groups?search=Bulk")).toMatchObject({
      data: [0, 1].map(() => ({ limits: [], member_limits: [{ period: "month", kind: "cap", cents: 750 }] })),
    });
  });

  it("are disabled, enabled, and deleted with their keys or without", async () => {
    const id = await make("users", { name: "Bob" });
    const { key } = await getStack().admin("POST", `${api}/keys`, { name: "bobs", user_id: id });
    await page.goto(`${base}/users/${id}`);
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByText("Requests with its API keys return 403 until you enable it.").waitFor();
    expect(await read(`users/${id}`)).toMatchObject({ disabled: true });
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByText("Its API keys work from the next request.").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Deleted.").waitFor();
    expect(await status(String(key))).toBe(200);
  });

  it("work without JavaScript, whose question keeps what was ticked", async () => {
    const group = await make("groups", { name: "Builds" });
    const { key } = await getStack().admin("POST", `${api}/keys`, { name: "nightly", group_id: group });
    const plain = await open({ javaScriptEnabled: false });
    const { token } = await getStack().admin("POST", `${api}/tokens`, { name: "bea", role: "admin" });
    await signIn(plain, getStack(), String(token));
    await plain.goto(`${base}/groups/${group}`);
    await plain.getByLabel("Also delete its keys").check();
    await plain.getByRole("button", { name: "Delete" }).click();
    await plain.getByText('Delete the group "Builds" with all its keys?').waitFor();
    expect(await status(String(key))).toBe(200);
    await plain.getByRole("button", { name: "Delete" }).click();
    await plain.getByText("Deleted.").waitFor();
    expect(await status(String(key))).toBe(401);
  });

  it("are seen by a viewer, who is offered no change", async () => {
    const group = await make("groups", { name: "Seen" });
    const id = await make("users", { name: "Seen", group_id: group });
    const viewer = await open();
    const { token } = await getStack().admin("POST", `${api}/tokens`, { name: "v", role: "viewer" });
    await signIn(viewer, getStack(), String(token));
    for (const path of ["users", `users/${id}`, "groups", `groups/${group}`]) {
      await viewer.goto(`${base}/${path}`);
      const buttons = viewer.locator("main").getByRole("button", { name: /Create|Save|Delete|Disable/ });
      expect(await buttons.count()).toBe(0);
      expect(await viewer.getByRole("link", { name: "Create an API key" }).count()).toBe(0);
    }
  });
});
