/** Redis is unreachable: callers with a token go on in the grace period as those with keys do, by what was last known. */
import { expect, it } from "vitest";
import { BOUND, withTokenStack } from "./token-stack.ts";

// Longer than the test, and one worker: what it knows is known.
const tokens = withTokenStack({
  workers: 1,
  redisIsKept: true,
  overrides: { settlement: { grace_seconds: 600 } },
});
const sign = (sub: string, role: string) =>
  tokens.corp.sign({ ...BOUND, sub, realm_access: { roles: [role] } });

it("lets on whom the worker knows, in the group of the last request, in no other group, and nobody new", async () => {
  expect((await tokens.bearer(await sign("known", "ml-platform"))).status).toBe(200);
  tokens.redis.kill();
  const during = await tokens.bearer(await sign("known", "ml-platform"));
  expect(during.status).toBe(200);
  const moved = await tokens.bearer(await sign("known", "ml-research"));
  expect(moved.status).toBe(503);
  expect(moved.json()).toMatchObject({ error: { code: "gateway_unavailable" } });
  const stranger = await tokens.bearer(await sign("stranger", "ml-research"));
  expect(stranger.status).toBe(503);
  expect(stranger.json()).toMatchObject({ error: { code: "gateway_unavailable" } });
  const bad = await tokens.bearer(await tokens.corp.sign({ ...BOUND, exp: 1 }));
  expect(bad.status).toBe(401);
  await tokens.redis.restart();
  const store = await tokens.chat.stack.store();
  const id = String(during.headers["x-request-id"]);
  const ownersOf = async () =>
    (await store.findRequest(tokens.organizationId, id, null).catch(() => null))?.owners ?? "";
  await expect.poll(ownersOf, { timeout: 30_000 }).toContain(tokens.platform);
  expect(await ownersOf()).not.toContain(tokens.research);
  await expect
    .poll(async () => (await tokens.bearer(await sign("stranger", "ml-research"))).status, {
      timeout: 30_000,
    })
    .toBe(200);
});
