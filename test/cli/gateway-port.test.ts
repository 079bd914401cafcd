import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { callCli } from "./call-cli.ts";

const chat = withSharedChatStack();
let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "igw-port-"));
});
afterAll(() => rmSync(home, { recursive: true }));

describe("a management command at the port of the gateway's clients", () => {
  it.each([
    { what: "login with the operator's token", args: "login", token: () => chat.stack.adminToken },
    { what: "login with an API key", args: "login", token: () => chat.key.key },
    { what: "org list", args: "org list", token: () => chat.stack.adminToken },
    {
      what: "usage export",
      args: "usage export --org org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11",
      token: () => "igw_op_x",
    },
  ])("says which port it is and where the management API is expected: $what", async ({ args, token }) => {
    const env = { XDG_CONFIG_HOME: home, IGW_ADMIN_TOKEN: token() };
    const port = chat.stack.baseUrl;
    const { code, stdout, stderr } = await callCli([...args.split(" "), "--admin-url", port], { env });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`${port} is the gateway's API port`);
    expect(stderr).toContain(`pass --admin-url http://${new URL(port).hostname}:10001`);
    expect(stderr).not.toContain("Invalid API key");
    expect(stderr).not.toContain(token());
  });

  it("is no matter of the management API's own refusals", async () => {
    const env = { XDG_CONFIG_HOME: home, IGW_ADMIN_TOKEN: chat.key.key };
    const { stderr } = await callCli(["login", "--admin-url", chat.stack.adminUrl], { env });
    expect(stderr).toContain("Invalid management token");
    expect(stderr).not.toContain("API port");
  });
});
