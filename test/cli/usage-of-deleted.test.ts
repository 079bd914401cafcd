/** `usage verify` of organizations that were deleted: what is kept of them is held to the same rules. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { waitFor } from "../support/wait.ts";
import { callCli } from "./call-cli.ts";

const chat = withSharedChatStack();

async function verify(): Promise<{ requests: number; otherCurrencyRequests: number }> {
  const { stdout } = await callCli(["usage", "verify", "--config", chat.stack.configFile, "--json"]);
  return (JSON.parse(stdout) as { log: { requests: number; otherCurrencyRequests: number } }).log;
}

it("leaves a deleted organization's lines in another currency out, as of any other", async () => {
  const { key, organizationId } = await chat.stack.createKey();
  expect((await chat.send({ key, body: chatBody() })).status).toBe(200);
  const folder = join(chat.stack.dir, "data/requests");
  const file = await waitFor("the line", () =>
    readdirSync(folder)
      .map((name) => join(folder, name))
      .find((path) => readFileSync(path, "utf8").includes(organizationId)),
  );
  await (await chat.stack.store()).deleteOrganization(organizationId, null);
  const before = await verify();
  const inEuros = (line: string) =>
    line.includes(organizationId) ? line.replace('"currency":"USD"', '"currency":"EUR"') : line;
  writeFileSync(file, readFileSync(file, "utf8").split("\n").map(inEuros).join("\n"));
  expect(await verify()).toEqual({
    ...before,
    requests: before.requests - 1,
    otherCurrencyRequests: before.otherCurrencyRequests + 1,
  });
});
