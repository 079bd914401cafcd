import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { cookieOf, createPageClient } from "../support/page-client.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  createToken,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
let receiver: WebhookReceiver;
beforeAll(async () => {
  admin = await startAdmin({ allowPrivateWebhooks: true });
  receiver = await startWebhookReceiver();
});
afterEach(() => {
  receiver.answer = null;
  receiver.received.length = 0;
});
afterAll(async () => {
  await receiver.close();
  await admin.stop();
});

interface Hooked {
  readonly id: string;
  readonly path: string;
  readonly secret: string;
}

async function createHooked(fields: object = {}): Promise<Hooked> {
  const id = await createOrganization(admin, fields);
  const path = `/api/organizations/${id}`;
  const set = await admin.ok("PATCH", path, { body: { notifications: { webhook: { url: receiver.url } } } });
  const { webhook } = set["notifications"] as { webhook: { secret: string } };
  return { id, path, secret: webhook.secret };
}

/** A key of this organization that has spent so many cents. */
async function spend(organizationId: string, fields: object, cents: bigint): Promise<string> {
  const { id } = await createApiKey(admin, organizationId, fields);
  const identity = await createIdentity(admin.store, { organizationId, keyId: id, hash: "" });
  await admin.store.charge(chargeInput(identity, 1, cents * 1_000_000n, { final: FINAL }));
  return id;
}

const NOT_TRIED = {
  state: "pending",
  attempts: 0,
  last_error: null,
  last_attempt_at: null,
  next_attempt_at: null,
};

describe("GET …/alerts", () => {
  it("lists what was reached, newest first, with the state of each delivery and what is unread", async () => {
    const { id, path } = await createHooked();
    const key = await spend(id, { name: "ci", hard_cap_cents: 100 }, 100n);
    const page = await admin.ok("GET", `${path}/alerts`);
    const alerts = page["data"] as Record<string, unknown>[];
    expect(alerts.map((alert) => alert["threshold_percent"])).toEqual([100, 90]);
    expect(alerts[0]).toMatchObject({
      id: expect.stringMatching(/^alert_/),
      type: "hard_cap.threshold_reached",
      organization_id: id,
      scope: "key",
      key_id: key,
      key_name: "ci",
      amount_cents: 100,
      spent_cents: 100,
      currency: "USD",
      // What one charge has reached is one message.
      message_id: alerts[1]!["id"],
      deliveries: { email: NOT_TRIED, webhook: NOT_TRIED },
    });
    expect(alerts[1]).toMatchObject({ message_id: alerts[1]!["id"] });
    expect(page).toMatchObject({ has_more: false, next: null, unread: 2 });
    const first = await admin.ok("GET", `${path}/alerts?limit=1`);
    const second = await admin.ok("GET", `${path}/alerts?limit=1&after=${String(first["next"])}`);
    expect([first["data"], second["data"]]).toEqual([[alerts[0]], [alerts[1]]]);
  });

  it("counts nothing as unread once the list was marked, or where the dashboard is no channel", async () => {
    const { id, path } = await createHooked();
    await spend(id, { budget_cents: 1 }, 1n);
    await admin.ok("PATCH", path, { body: { notifications: { dashboard: false } } });
    expect(await admin.ok("GET", `${path}/alerts`)).toMatchObject({ unread: 0 });
    await admin.ok("PATCH", path, { body: { notifications: { dashboard: true } } });
    expect(await admin.ok("GET", `${path}/alerts`)).toMatchObject({ unread: 2 });
    expect((await admin.call("POST", `${path}/alerts/mark-read`)).status).toBe(204);
    expect(await admin.ok("GET", `${path}/alerts`)).toMatchObject({ unread: 0 });
  });

  it("counts what each caller has not read: a viewer's mark is the viewer's alone", async () => {
    const { id, path } = await createHooked();
    const viewer = { token: await createToken(admin, id, "viewer") };
    await spend(id, { budget_cents: 1 }, 1n);
    expect(await admin.ok("GET", `${path}/alerts`, viewer)).toMatchObject({ unread: 2 });
    expect((await admin.call("POST", `${path}/alerts/mark-read`, viewer)).status).toBe(204);
    expect(await admin.ok("GET", `${path}/alerts`, viewer)).toMatchObject({ unread: 0 });
    expect(await admin.ok("GET", `${path}/alerts`)).toMatchObject({ unread: 2 });
  });
});

describe("the page of an alert", () => {
  it("shows its limit now, the field that changes it, deliveries, and earlier alerts of the limit", async () => {
    const { id, path } = await createHooked();
    const { id: key } = await createApiKey(admin, id, { name: "ci", hard_cap_cents: 100 });
    const identity = await createIdentity(admin.store, { organizationId: id, keyId: key, hash: "" });
    await admin.store.charge(chargeInput(identity, 1, 90_000_000n, {}));
    await admin.store.charge(chargeInput(identity, 2, 100_000_000n, { final: FINAL }));
    await spend(id, { name: "other", hard_cap_cents: 100 }, 100n);
    const { data } = (await admin.ok("GET", `${path}/alerts`)) as {
      data: { id: string; key_name: string; threshold_percent: number }[];
    };
    const alert = data.find(({ key_name: name, threshold_percent: at }) => name === "ci" && at === 100);
    const pages = createPageClient(admin.url);
    const show = async (token: string, alertId = alert?.id) =>
      pages.get(`/organizations/${id}/alerts/${alertId}`, cookieOf(await pages.signIn(token)));
    const { text } = await show(OPERATOR_TOKEN);
    expect(text).toContain("Alert of API key &quot;ci&quot;");
    expect(text).toContain("1.00 USD spent, 100 % of 1.00 USD");
    expect(text).toMatch(/<dt>since<\/dt><dd class="break">resets in [^,<]+</);
    expect(text).toContain(`href="/organizations/${id}/keys/${key}#limits">Change it`);
    expect(text).toMatch(/<h2 id="deliveries">.*webhook.*pending/);
    const earlier = text.slice(text.indexOf('id="earlier"'));
    expect(earlier).toContain("90 % of the");
    expect(earlier).not.toContain("other");
    await admin.ok("PATCH", `${path}/keys/${key}`, { body: { hard_cap_cents: 200 } });
    expect((await show(await createToken(admin, id, "viewer"))).text).toMatch(
      /raised since to 2\.00 USD.*See it|See it.*raised since to 2\.00 USD/,
    );
    expect((await show(OPERATOR_TOKEN, "alert_0")).status).toBe(404);
    const list = await pages.get(`/organizations/${id}/alerts`, cookieOf(await pages.signIn(OPERATOR_TOKEN)));
    expect(list.text).toContain(`/alerts/${alert?.id}"`);
  });
});

describe("a limit's own alerts", () => {
  it("are set with it, kept when its amount changes, and shown with the alerts of its alias in the audit log", async () => {
    const id = await createOrganization(admin);
    const path = `/api/organizations/${id}`;
    const limits = [{ period: "month", kind: "cap", cents: 1000, alerts: [75, 50] }];
    const key = await createApiKey(admin, id, { limits });
    const sorted = [{ ...limits[0], alerts: [50, 75] }];
    expect(await admin.ok("GET", `${path}/keys/${key.id}`)).toMatchObject({ limits: sorted });
    const body = { hard_cap_cents: 2000 };
    expect(await admin.ok("PATCH", `${path}/keys/${key.id}`, { body })).toMatchObject({
      limits: [{ ...sorted[0], cents: 2000 }],
    });
    const plain = { limits: [{ period: "month", kind: "cap", cents: 2000 }] };
    expect(await admin.ok("PATCH", `${path}/keys/${key.id}`, { body: plain })).toMatchObject(plain);
    const { data } = (await admin.ok("GET", `${path}/audit?limit=1`)) as { data: object[] };
    expect(data).toMatchObject([{ before: { limits: [{ alerts: [50, 75] }] }, after: { limits: [] } }]);
  });

  it.each([[0], [100], [50, 50], [1, 2, 3, 4, 5, 6], [1.5]])("cannot be %j", async (...alerts) => {
    const id = await createOrganization(admin);
    const limits = [{ period: "month", kind: "cap", cents: 1000, alerts }];
    const refused = await admin.refused("PATCH", `/api/organizations/${id}`, { body: { limits } });
    expect(refused).toMatchObject({
      status: 400,
      message: expect.stringContaining("expected at most 5 percentages from 1 to 99"),
    });
  });
});

describe("POST …/redeliver", () => {
  it("puts an alert into the outbox again, for the channels that are asked for", async () => {
    const { id, path } = await createHooked();
    await spend(id, { budget_cents: 100 }, 80n);
    const { data } = (await admin.ok("GET", `${path}/alerts`)) as { data: { id: string }[] };
    const alert = `${path}/alerts/${data[0]!.id}`;
    const claim = await admin.store.claimDelivery(id, "webhook", "test", 60_000);
    if (claim.outcome !== "claimed") throw new Error(claim.outcome);
    const shown = {
      state: "failed",
      attempts: 9,
      lastError: "no",
      lastAttemptAtMs: 1,
      nextAttemptAtMs: null,
    } as const;
    const finish = {
      organizationId: id,
      channel: "webhook",
      owner: "test",
      claim,
      outcome: "done",
      shown,
    } as const;
    await admin.store.finishDelivery(finish);
    expect(await admin.ok("GET", `${path}/alerts`)).toMatchObject({
      data: [{ deliveries: { webhook: { state: "failed", attempts: 9, last_error: "no" } } }],
    });
    const answer = await admin.call("POST", `${alert}/redeliver`);
    expect(answer.status).toBe(202);
    expect(answer.json()).toMatchObject({ id: data[0]!.id, deliveries: { webhook: NOT_TRIED } });
    expect(await admin.store.claimDelivery(id, "webhook", "test", 60_000)).toMatchObject({
      outcome: "claimed",
      message: { id: data[0]!.id },
      isForOtherChannels: false,
    });
    expect(
      await admin.refused("POST", `${alert}/redeliver`, { body: { channels: ["email"] } }),
    ).toMatchObject({
      status: 400,
      param: "channels",
    });
  });

  it("is 404 for an alert that there is not, and 400 for a channel that there is not", async () => {
    const { path } = await createHooked();
    expect(await admin.refused("POST", `${path}/alerts/alert_x/redeliver`)).toMatchObject({
      status: 404,
      code: "alert_not_found",
    });
    const refusal = await admin.refused("POST", `${path}/alerts/alert_x/redeliver`, {
      body: { channels: ["fax"] },
    });
    expect(refusal).toMatchObject({ status: 400, param: "channels.0" });
  });
});

describe("POST …/webhook/test", () => {
  it("sends a signed event that is no alert and says what came of it", async () => {
    const { id, path, secret } = await createHooked();
    expect(await admin.ok("POST", `${path}/webhook/test`)).toEqual({
      delivered: true,
      status: 204,
      error: null,
      duration_ms: expect.any(Number),
    });
    const [request] = receiver.received;
    const event = new Webhook(secret).verify(request!.body, request!.headers as Record<string, string>);
    expect(event).toMatchObject({ type: "webhook.test", data: { organization_id: id } });
    receiver.answer = () => 500;
    expect(await admin.ok("POST", `${path}/webhook/test`)).toMatchObject({
      delivered: false,
      status: 500,
      error: "the endpoint returned 500",
    });
  });

  it("says why nobody answered, and that there is no webhook", async () => {
    const { path } = await createHooked();
    const gone = await startWebhookReceiver();
    await admin.ok("PATCH", path, { body: { notifications: { webhook: { url: gone.url } } } });
    await gone.close();
    expect(await admin.ok("POST", `${path}/webhook/test`)).toMatchObject({
      delivered: false,
      status: null,
      error: "the connection was refused",
    });
    await admin.ok("PATCH", path, { body: { notifications: { webhook: null } } });
    for (const call of ["test", "rotate-secret"]) {
      expect(await admin.refused("POST", `${path}/webhook/${call}`)).toMatchObject({
        code: "webhook_not_set",
      });
    }
  });

  it("reaches no private network where the operator has not allowed it", async () => {
    const strict = await startAdmin();
    const id = await createOrganization(strict, {
      notifications: { webhook: { url: `https://127.0.0.1:${receiver.port}/` } },
    });
    expect(await strict.ok("POST", `/api/organizations/${id}/webhook/test`)).toMatchObject({
      delivered: false,
      error: "the host's address isn't public",
    });
    expect(receiver.received).toEqual([]);
    await strict.stop();
  });
});

describe("POST …/webhook/rotate-secret", () => {
  it("makes a secret that is shown once, and lets the previous one sign on", async () => {
    const { path, secret } = await createHooked();
    const rotated = await admin.ok("POST", `${path}/webhook/rotate-secret`);
    expect(rotated).toEqual({
      secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/),
      former_secret_until: expect.any(String),
    });
    const newSecret = String(rotated["secret"]);
    expect(newSecret).not.toBe(secret);
    await admin.ok("POST", `${path}/webhook/test`);
    const [request] = receiver.received;
    for (const one of [secret, newSecret]) {
      expect(new Webhook(one).verify(request!.body, request!.headers as Record<string, string>)).toBeTruthy();
    }
    for (const answer of [await admin.call("GET", path), await admin.call("GET", `${path}/audit`)]) {
      expect(answer.text).not.toContain("whsec_");
    }
    expect(await admin.ok("GET", `${path}/audit`)).toMatchObject({
      data: [{ action: "webhook.rotated" }, {}, {}],
    });
  });

  it("ends the former secret at once when it must not sign on", async () => {
    const { path, secret } = await createHooked();
    const rotated = await admin.ok("POST", `${path}/webhook/rotate-secret`, { body: { grace_seconds: 0 } });
    expect(rotated["former_secret_until"]).toBeNull();
    await admin.ok("POST", `${path}/webhook/test`);
    const [request] = receiver.received;
    expect(String(request!.headers["webhook-signature"]).split(" ")).toHaveLength(1);
    const headers = request!.headers as Record<string, string>;
    expect(() => new Webhook(secret).verify(request!.body, headers)).toThrow("No matching signature found");
  });

  it("is not for viewers", async () => {
    const { id, path } = await createHooked();
    const token = await createToken(admin, id, "viewer");
    expect(await admin.refused("POST", `${path}/webhook/rotate-secret`, { token })).toMatchObject({
      status: 403,
    });
  });
});

describe("an endpoint that has answered 410", () => {
  it("is shown as disabled until its URL is set again, and keeps its secret", async () => {
    const { id, path } = await createHooked();
    const record = await admin.store.getOrganization(id);
    const { notifications } = record!;
    const webhook = { ...notifications.webhook!, disabledAtMs: Date.UTC(2026, 10, 20) };
    await admin.store.changeOrganization(id, { notifications: { ...notifications, webhook } }, null);
    const disabled = {
      notifications: { webhook: { url: receiver.url, disabled_at: "2026-11-20T00:00:00.000Z" } },
    };
    expect(await admin.ok("GET", path)).toMatchObject(disabled);
    await admin.ok("PATCH", path, { body: { notifications: { dashboard: false } } });
    expect(await admin.ok("GET", path)).toMatchObject(disabled);
    const body = { notifications: { webhook: { url: receiver.url } } };
    const enabled = await admin.ok("PATCH", path, { body });
    expect(enabled).toMatchObject({ notifications: { webhook: { url: receiver.url, disabled_at: null } } });
    expect(JSON.stringify(enabled)).not.toContain("whsec_");
    const after = await admin.store.getOrganization(id);
    expect(after?.notifications.webhook?.secrets).toEqual(notifications.webhook?.secrets);
  });
});
