import { execFileSync } from "node:child_process";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createWebhookSecret, signWebhook } from "../../../src/management/alerts/signature.ts";

const timestamp = Math.floor(Date.now() / 1000);
const body = '{"type":"budget.threshold_reached","data":{"key_name":"naïve ✓"}}';
const message = { id: "alert_1", timestamp, body };

describe("signWebhook", () => {
  it("makes what the Standard Webhooks library accepts, and nothing else", () => {
    const secret = createWebhookSecret();
    const headers = signWebhook([secret], message);
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow("No matching signature found");
    expect(() => new Webhook(createWebhookSecret()).verify(body, headers)).toThrow(
      "No matching signature found",
    );
    expect(() => new Webhook(secret).verify(body, { ...headers, "webhook-id": "alert_2" })).toThrow(
      "No matching signature found",
    );
  });

  it("makes what openssl computes from the decoded secret", () => {
    const secret = createWebhookSecret();
    const hexKey = Buffer.from(secret.slice("whsec_".length), "base64").toString("hex");
    const digest = execFileSync(
      "openssl",
      ["dgst", "-sha256", "-mac", "HMAC", "-macopt", `hexkey:${hexKey}`, "-binary"],
      { input: `alert_1.${timestamp}.${body}` },
    );
    expect(signWebhook([secret], message)["webhook-signature"]).toBe(`v1,${digest.toString("base64")}`);
  });

  it("signs with each secret while one is rotated, so that receivers with either accept it", () => {
    const secrets = [createWebhookSecret(), createWebhookSecret()];
    const headers = signWebhook(secrets, message);
    expect(headers["webhook-signature"]).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
  });

  it("refuses a secret of another form", () => {
    expect(() => signWebhook(["c2VjcmV0"], message)).toThrow(RangeError);
  });
});

describe("createWebhookSecret", () => {
  it("is whsec_ and the base64 of 32 bytes, another each time", () => {
    const [first, second] = [createWebhookSecret(), createWebhookSecret()];
    expect(first).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(first).not.toBe(second);
  });
});
