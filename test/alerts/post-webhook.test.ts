import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { postWebhook, type PostOptions } from "../../src/management/alerts/post-webhook.ts";
import { createTestAuthority, type TestAuthority } from "../support/tls.ts";
import { waitFor } from "../support/wait.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

const PRIVATE: PostOptions = { allowPrivateNetworks: true };
const PUBLIC: PostOptions = { allowPrivateNetworks: false };

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(() => {
  receiver.answer = null;
  receiver.received.length = 0;
});
afterAll(() => receiver.close());

const post = (url: string, options: PostOptions, signal?: AbortSignal) =>
  postWebhook({ url, headers: { "webhook-id": "a" }, body: "{}", ...(signal && { signal }) }, options);

/** Why there was no answer. */
const failure = (url: string, options: PostOptions) =>
  post(url, options).then(
    (answer) => `answered ${answer.status}`,
    (error: Error) => error.message,
  );

describe("postWebhook", () => {
  it("posts JSON and tells the status", async () => {
    expect(await post(`${receiver.url}?a=1`, PRIVATE)).toEqual({ status: 204, retryAfterMs: 0 });
    expect(receiver.received).toMatchObject([
      {
        method: "POST",
        path: "/hook?a=1",
        body: "{}",
        headers: { "content-type": "application/json", "content-length": "2", "webhook-id": "a" },
      },
    ]);
  });

  it("follows no redirect", async () => {
    receiver.answer = () => (response) => response.writeHead(307, { location: receiver.url }).end();
    expect((await post(receiver.url, PRIVATE)).status).toBe(307);
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    { name: "seconds", value: () => "120", expected: 120_000 },
    { name: "a date", value: () => new Date(Date.now() + 3_600_000).toUTCString(), expected: 3_600_000 },
    { name: "a date that has passed", value: () => "Wed, 21 Oct 2015 07:28:00 GMT", expected: 0 },
    { name: "nonsense", value: () => "soon", expected: 0 },
  ])("reads Retry-After as $name", async ({ value, expected }) => {
    receiver.answer = () => (response) => response.writeHead(503, { "retry-after": value() }).end();
    const { retryAfterMs } = await post(receiver.url, PRIVATE);
    expect(Math.abs(retryAfterMs - expected)).toBeLessThan(5_000);
  });

  it("cuts an answer that has no end", async () => {
    let cut = false;
    receiver.answer = () => (response) => {
      response.on("close", () => (cut = true));
      response.writeHead(200);
      const write = (): void => {
        if (!response.destroyed && response.write("x".repeat(64 * 1024))) setImmediate(write);
        else response.once("drain", write);
      };
      write();
    };
    expect((await post(receiver.url, PRIVATE)).status).toBe(200);
    await waitFor("the connection to be cut", () => cut);
  });

  it("gives up on a receiver that is silent, and on one that dribbles its head", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      silent.listen(0, "127.0.0.1", () => resolve());
    });
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    expect(await failure(url, { ...PRIVATE, timeoutMs: 50 })).toBe("no response within 0.05 s");
    silent.close();
    receiver.answer = () => (response) => {
      const timer = setInterval(() => response.writeProcessing(), 5);
      response.on("close", () => clearInterval(timer));
    };
    expect(await failure(receiver.url, { ...PRIVATE, timeoutMs: 100 })).toBe("no response within 0.1 s");
  });

  it("says in plain words that nobody listens, and names no address", async () => {
    const gone = await startWebhookReceiver();
    await gone.close();
    expect(await failure(gone.url, PRIVATE)).toBe("the connection was refused");
  });

  it("stops when it is told to", async () => {
    const controller = new AbortController();
    receiver.answer = () => {
      controller.abort();
      return () => undefined;
    };
    await expect(post(receiver.url, PRIVATE, controller.signal)).rejects.toThrow("interrupted");
  });
});

describe("postWebhook without private networks", () => {
  it.each([
    "https://127.0.0.1:PORT/",
    "https://127.1:PORT/",
    "https://2130706433:PORT/",
    "https://0x7f.0.0.1:PORT/",
    "https://0.0.0.0:PORT/",
    "https://[::1]:PORT/",
    "https://[::ffff:127.0.0.1]:PORT/",
    "https://[64:ff9b::7f00:1]:PORT/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fd00:ec2::254]/",
  ])("refuses %s", async (url) => {
    expect(await failure(url.replace("PORT", String(receiver.port)), PUBLIC)).toContain(
      "the host's address isn't public",
    );
    expect(receiver.received).toEqual([]);
  });

  it("refuses plain http", async () => {
    expect(await failure(receiver.url, PUBLIC)).toBe("the URL does not begin with https://");
  });

  it.each([["127.0.0.1"], ["10.0.0.1", "::1"], ["::ffff:169.254.169.254"]])(
    "refuses a name that leads to %s, after it was resolved",
    async (...addresses) => {
      const resolveHost = async () => addresses;
      const reason = await failure(`https://hook.example.com:${receiver.port}/`, { ...PUBLIC, resolveHost });
      expect(reason).toBe("the host's address isn't public");
    },
  );

  it("connects to the address that it has checked, whatever the name leads to afterwards", async () => {
    const answers = [["192.0.2.1"], ["127.0.0.1"]];
    let asked = 0;
    const resolveHost = async () => answers[asked++] ?? [];
    const reason = await failure(`https://rebinding.example.com:${receiver.port}/`, {
      ...PUBLIC,
      resolveHost,
    });
    expect(reason).toContain("the host's address isn't public");
    expect(asked).toBe(1);
  });

  it("says when a name has no address", async () => {
    const resolveHost = async () => [];
    expect(await failure("https://nothing.example.com/", { ...PUBLIC, resolveHost })).toBe(
      "the host name has no address",
    );
  });
});

describe("postWebhook over TLS", () => {
  let authority: TestAuthority;
  beforeAll(async () => {
    authority = await createTestAuthority();
  });
  afterAll(() => authority.close());

  it("checks the certificate against the URL's name", async () => {
    const tls = await authority.issue("hook.example.com", ["hook.example.com"]);
    const secure = await startWebhookReceiver({ tls });
    const resolveHost = async () => ["127.0.0.1"];
    const options = { ...PRIVATE, resolveHost };
    const trusting = { ...options, certificateAuthorities: authority.ca };
    expect((await post(`https://hook.example.com:${secure.port}/`, trusting)).status).toBe(204);
    expect(await failure(`https://other.example.com:${secure.port}/`, trusting)).toContain(
      "ERR_TLS_CERT_ALTNAME_INVALID",
    );
    expect(await failure(`https://hook.example.com:${secure.port}/`, options)).toContain(
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    );
    await secure.close();
  });
});
