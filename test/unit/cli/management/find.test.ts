import { describe, expect, it } from "vitest";
import { AdminClient } from "../../../../src/operation/cli/management/admin-client.ts";
import { findOrganization } from "../../../../src/operation/cli/management/find.ts";

/** A client that knows these organizations. */
function clientOf(...names: readonly string[]): AdminClient {
  const client = new AdminClient("http://127.0.0.1:1", "token");
  client.list = () => Promise.resolve(names.map((name) => ({ id: `org_${name}`, name })));
  return client;
}

describe("an organization on the command line", () => {
  it("is suggested by its nearest name, without an option that the command may not have", async () => {
    await expect(findOrganization(clientOf("Acme", "Globex"), "Acm")).rejects.toThrow(
      'Unknown organization "Acm"; did you mean `Acme`? `inference-gateway org list` shows all.',
    );
  });

  it.each([
    [[], "There is no organization. Pass --org with a name or id from `inference-gateway org list`."],
    [
      ["A", "B"],
      "There are 2 organizations. Pass --org with a name or id from `inference-gateway org list`.",
    ],
  ])("is asked for unless there is exactly one: %j", async (names, says) => {
    await expect(findOrganization(clientOf(...names), undefined)).rejects.toThrow(says);
  });
});
