/** Callers with a token of an identity provider: whose their requests are, and that they are as those of any key. */
import { describe, expect, it } from "vitest";
import { chatBody } from "../../support/chat-stack.ts";
import { createSigningKey } from "../../support/token-issuer.ts";
import { BOUND, withTokenStack } from "./token-stack.ts";

const tokens = withTokenStack({ workers: 2 }, async (corp) => {
  corp.keys.push(await createSigningKey("login.example.com-es", "ES256"));
});
const FIRST = { limit: 100, after: null };
const ALL = { search: null, groupId: null };

const sign = (claims: object) => tokens.corp.sign({ ...BOUND, ...claims });

async function findUser(subject: string) {
  const store = await tokens.chat.stack.store();
  return store.findExternalUser(tokens.organizationId, { issuer: tokens.corp.issuer, subject });
}

/** Of the recorded owners, "user_1.group_2". */
function groupOf(request: { readonly owners?: string } | null): string | null {
  return request?.owners?.split(".").find((id) => id.startsWith("group_")) ?? null;
}

async function keysOf(userId: string) {
  const store = await tokens.chat.stack.store();
  return (await store.listKeys(tokens.organizationId, FIRST, { userId })).items;
}

describe("a request with a token", () => {
  it("makes one user and one key without a secret, however many come first", async () => {
    const token = await sign({ sub: "first", email: "first@example.com" });
    const answers = await Promise.all(Array.from({ length: 20 }, () => tokens.bearer(token)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    const user = await findUser("first");
    expect(user).toMatchObject({ name: "first@example.com", email: "first@example.com", disabled: false });
    const store = await tokens.chat.stack.store();
    const { items } = await store.listUsers(
      tokens.organizationId,
      { ...ALL, search: "first@example.com" },
      FIRST,
    );
    expect(items).toHaveLength(1);
    const keys = await keysOf(user?.id ?? "");
    expect(keys).toEqual([
      expect.objectContaining({ name: "jwt:corp", display: "jwt:corp", requestsPerMinute: 60_000 }),
    ]);
    const audit = await store.listAuditEntries(tokens.organizationId, FIRST);
    const made = audit.items.filter(({ actor }) => actor.id === user?.id);
    expect(made.map(({ action, actor }) => [action, actor.type])).toEqual([
      ["key.created", "person"],
      ["user.created", "person"],
    ]);
    expect(made[1]?.after).toMatchObject({ external: { issuer: tokens.corp.issuer, subject: "first" } });
  });

  it("is answered by GET /v1/key as one with a key is, bucket, user and group included", async () => {
    const token = await sign({ sub: "status", realm_access: { roles: ["ml-research", "ml-platform", "x"] } });
    const answer = await tokens.call({ authorization: `Bearer ${token}` }, "/v1/key");
    const user = await findUser("status");
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({
      name: "jwt:corp",
      user: { id: user?.id, name: "status" },
      group: { id: tokens.platform, name: "Platform" },
    });
    expect(user?.groupId).toBe(tokens.platform);
    expect(answer.headers["x-service-ratelimit-remaining"]).toMatch(/^\d+$/);
  });

  it.each([
    ["a list, the highest priority", ["ml-research", "ml-platform"], "platform"],
    ["one text", "ml-research", "research"],
    ["none that fits: the user's own", ["nothing"], "platform"],
  ] as const)("counts to the group of its own claim: %s", async (_name, roles, group) => {
    const store = await tokens.chat.stack.store();
    const subject = "moved";
    // Made in the group Platform.
    await tokens.bearer(await sign({ sub: subject, realm_access: { roles: ["ml-platform"] } }));
    const answer = await tokens.bearer(await sign({ sub: subject, realm_access: { roles } }));
    expect(answer.status).toBe(200);
    const id = String(answer.headers["x-request-id"]);
    await expect
      .poll(async () => groupOf(await store.findRequest(tokens.organizationId, id, null)))
      .toBe(tokens[group]);
  });

  it("meets its user's cap, and a disabled user is refused", async () => {
    const store = await tokens.chat.stack.store();
    const token = await sign({ sub: "capped" });
    expect((await tokens.bearer(token)).status).toBe(200);
    const user = await findUser("capped");
    await store.changeUser(
      tokens.organizationId,
      user?.id ?? "",
      { limits: [{ period: "month", kind: "cap", cents: 0 }] },
      null,
    );
    const capped = await tokens.bearer(token);
    expect(capped.status).toBe(402);
    expect(capped.json()).toMatchObject({ error: { code: "user_hard_cap_reached" } });
    await store.changeUser(tokens.organizationId, user?.id ?? "", { disabled: true }, null);
    const disabled = await tokens.bearer(token);
    expect(disabled.json()).toMatchObject({ error: { code: "user_disabled" } });
  });

  it("finds out anew who it is once key or user were deleted, and never goes on as nobody", async () => {
    const store = await tokens.chat.stack.store();
    const token = await sign({ sub: "deleted" });
    expect((await tokens.bearer(token)).status).toBe(200);
    const user = await findUser("deleted");
    const [key] = await keysOf(user?.id ?? "");
    await store.deleteKey({ organizationId: tokens.organizationId, keyId: key?.id ?? "" });
    // Each of two workers may have known the key.
    const afterKey = [];
    for (let tried = 0; tried < 6; tried += 1) afterKey.push((await tokens.bearer(token)).status);
    expect(afterKey.filter((status) => status === 401).length).toBeLessThanOrEqual(2);
    expect(afterKey.at(-1)).toBe(200);
    const [second] = await keysOf(user?.id ?? "");
    expect(second?.id).not.toBe(key?.id);
    await store.deleteUser(tokens.organizationId, user?.id ?? "", "keep", null);
    const afterUser = [];
    for (let tried = 0; tried < 6; tried += 1) afterUser.push((await tokens.bearer(token)).status);
    expect(afterUser.at(-1)).toBe(200);
    expect((await findUser("deleted"))?.id).not.toBe(user?.id);
  });

  it("has no secret that could be rotated in", async () => {
    await tokens.bearer(await sign({ sub: "rotated" }));
    const [key] = await keysOf((await findUser("rotated"))?.id ?? "");
    const path = `/api/organizations/${tokens.organizationId}/keys/${key?.id ?? ""}/rotate`;
    await expect(tokens.chat.stack.admin("POST", path)).rejects.toThrow(/409.*key_without_secret/);
    const presented = await tokens.bearer(`jwt:${key?.id ?? ""}`);
    expect(presented.status).toBe(401);
  });

  it("is refused where a bound claim, a subject or an organization is missing, saying which", async () => {
    const rows = [
      [await tokens.corp.sign({ sub: "x" }), /`tenant`/],
      [await sign({ tenant: "evil" }), /`tenant`/],
      [await sign({ sub: "" }), /`sub`/],
      [await tokens.other.sign({}), /`https:\/\/example.com\/org` names no organization/],
      [await tokens.other.sign({ "https://example.com/org": "gone" }), /this gateway has no user for it/],
      [await tokens.other.sign({ "https://example.com/org": ["acme"] }), /this gateway has no user for it/],
    ] as const;
    for (const [token, message] of rows) {
      const answer = await tokens.bearer(token);
      expect(answer.status).toBe(403);
      expect(answer.json()).toMatchObject({
        error: {
          type: "permission_error",
          code: "identity_not_allowed",
          message: expect.stringMatching(message) as string,
        },
      });
    }
    expect(tokens.chat.upstream.requests).toEqual([]);
  });

  it("is good from x-api-key and beside a placeholder, on messages, and never reaches the upstream", async () => {
    const token = await sign({ sub: "places" });
    const good = [
      { "x-api-key": token },
      { authorization: `bearer ${token}` },
      { authorization: `Bearer  ${token}` },
      { authorization: `Bearer ${token}`, "x-api-key": "placeholder" },
      { authorization: "Bearer placeholder", "x-api-key": token },
    ];
    for (const headers of good) {
      expect((await tokens.call(headers)).status).toBe(200);
      expect(JSON.stringify(tokens.chat.upstream.lastRequest.headers)).not.toContain("eyJ");
    }
    const message = await tokens.chat.send({
      path: "/v1/messages",
      key: null,
      headers: { "x-api-key": token, "anthropic-version": "2023-06-01" },
      body: chatBody({ max_tokens: 5 }),
    });
    expect(message.status).toBe(200);
  });
});
