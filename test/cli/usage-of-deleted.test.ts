/** `usage verify` of organizations that were deleted: what is kept of them is held to the same rules. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { waitFor } from "../support/wait.ts";
import { callCli } from "./call-cli.ts";

const chat = withChatStack();

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
  const line = readFileSync(file, "utf8").replaceAll('"currency":"USD"', '"currency":"EUR"');
  writeFileSync(file, line);
  const { stdout } = await callCli(["usage", "verify", "--config", chat.stack.configFile, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ log: { requests: 0, otherCurrencyRequests: 1 } });
});
