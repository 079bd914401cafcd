import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatBody, CHAT_PATH } from "../support/chat-stack.ts";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { type Stack, START_TIMEOUT_MS, startStack } from "../support/stack.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

/** 10,000 tokens at 10.00 per million: ten cents. */
const TEN_CENTS = { promptTokens: 0, cachedTokens: 0, completionTokens: 10_000 };

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
/** The same start as the stack's own. */
const UP = process.env["IGW_SKIP_BUILD"]
  ? [join(REPOSITORY, "dist/main.js"), "up"]
  : [join(REPOSITORY, "src/operation/setup/start.js")];

let upstream: ScriptedUpstream;
let mailServer: MailServer;
let stack: Stack;
let hookPort: number;
let receiver: WebhookReceiver | null = null;
let again: Child | null = null;
let organizationPath: string;
let secret: string;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.answer({ kind: "json", body: textCompletion("ok", TEN_CENTS) });
  mailServer = await startMailServer();
  hookPort = await findFreePort();
  stack = await startStack({
    isLauncherOwnProcess: true,
    upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1" }],
    overrides: {
      notifications: {
        smtp: { url: mailServer.url, from: "Gateway <gateway@example.org>" },
        webhooks: { allow_private_networks: true },
      },
    },
  });
  const notifications = {
    emails: ["ops@example.com"],
    webhook: { url: `http://127.0.0.1:${hookPort}/hook` },
  };
  const organization = await stack.admin("POST", "/api/organizations", {
    name: "Acme",
    currency: "USD",
    notifications,
  });
  organizationPath = `/api/organizations/${String(organization["id"])}`;
  secret = (organization["notifications"] as { webhook: { secret: string } }).webhook.secret;
  const amounts = { budget_cents: 100, hard_cap_cents: 100 };
  const created = await stack.admin("POST", `${organizationPath}/keys`, { name: "ci", ...amounts });
  key = String(created["key"]);
}, START_TIMEOUT_MS);

afterAll(async () => {
  await again?.stop();
  await stack?.stop();
  await receiver?.close();
  await mailServer?.close();
  await upstream?.close();
}, 60_000);

async function request(): Promise<number> {
  return (await stack.send({ path: CHAT_PATH, key, body: chatBody() })).status;
}

interface ShownAlert {
  readonly id: string;
  readonly type: string;
  readonly threshold_percent: number;
  readonly deliveries: Record<
    "email" | "webhook",
    { state: string; attempts: number; last_error: string | null }
  >;
}

/** The oldest first. */
async function listAlerts(): Promise<ShownAlert[]> {
  const page = await stack.admin("GET", `${organizationPath}/alerts`);
  return (page["data"] as ShownAlert[]).toReversed();
}

async function waitForStates(
  channel: "email" | "webhook",
  expected: readonly string[],
): Promise<ShownAlert[]> {
  return waitFor(
    `alerts by ${channel}: ${expected.join(", ")}`,
    async () => {
      const alerts = await listAlerts();
      return (
        alerts.map(({ deliveries }) => deliveries[channel].state).join(" ") === expected.join(" ") && alerts
      );
    },
    { timeoutMs: 30_000, intervalMs: 50 },
  );
}

/** Verified with the Standard Webhooks library: "budget 80". */
function eventsOf(hook: WebhookReceiver): string[] {
  return hook.received.map(({ body, headers }) => {
    const { type, data } = new Webhook(secret).verify(body, headers as Record<string, string>) as {
      type: string;
      data: { threshold_percent: number };
    };
    return `${type} ${data.threshold_percent}`;
  });
}

/** Processes of this stack whose command line has this word. */
function findProcesses(word: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const isOurs = (args: readonly string[]): boolean => args.includes(word) && args.includes(stack.configFile);
  return pids.filter((pid) => isOurs(readCommandLine(pid))).map(Number);
}

/** Empty for a process that is gone. */
function readCommandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(String((error as NodeJS.ErrnoException).code))) return [];
    throw error;
  }
}

describe("alerts of a key that real requests push over its thresholds", () => {
  it("arrive once the receiver is up, though it was down for the first attempts", async () => {
    for (let count = 0; count < 8; count += 1) expect(await request()).toBe(200);
    await waitFor("two attempts at a receiver that is down", async () => {
      const [alert] = await listAlerts();
      return (alert?.deliveries.webhook.attempts ?? 0) >= 2;
    });
    const [waiting] = await listAlerts();
    expect(waiting?.deliveries.webhook).toMatchObject({
      state: "pending",
      last_error: "the connection was refused",
    });
    expect(await request()).toBe(200);
    receiver = await startWebhookReceiver({ port: hookPort });
    await waitForStates("webhook", ["delivered", "delivered"]);
    expect(eventsOf(receiver)).toEqual(["budget.threshold_reached 80", "hard_cap.threshold_reached 90"]);
    await waitForStates("email", ["delivered", "delivered"]);
    expect(mailServer.received.map(({ mail }) => mail.subject)).toEqual([
      expect.stringMatching(/^\[Acme\] 80% of the .* budget of API key "ci" is spent$/),
      expect.stringMatching(/^\[Acme\] 90% of the .* hard cap of API key "ci" is spent$/),
    ]);
    expect(mailServer.received[0]?.mail.text).toContain("$0.80");
    expect(mailServer.received[0]?.mail.text).toContain(`${stack.adminUrl}/organizations/`);
  });

  it(
    "arrive though the process that delivers is killed between sending and recording",
    async () => {
      const hook = receiver!;
      const gate = createGate();
      hook.received.length = 0;
      hook.answer = async (_request, index) => {
        if (index === 0) await gate.opened;
        return 204;
      };
      expect(await request()).toBe(200);
      expect(await request()).toBe(402);
      await waitFor("the message of two alerts", () => hook.received.length === 1);
      const [supervisor] = findProcesses("serve");
      process.kill(supervisor!, "SIGKILL");
      gate.release();
      await stack.child.waitForEnd();
      await waitFor("the workers to notice", () => findProcesses("worker").length === 0);
      again = startChild(process.execPath, [...UP, "--config", stack.configFile, "--json"], {
        cwd: stack.dir,
      });
      await again.waitForLine("the stack's JSON line", (line) => (line.startsWith("{") ? true : null));
      const alerts = await waitForStates("webhook", ["delivered", "delivered", "delivered", "delivered"]);
      expect(eventsOf(hook)).toEqual(["hard_cap.threshold_reached 100", "hard_cap.threshold_reached 100"]);
      const ids = hook.received.map(({ event }) => event.data["id"]);
      expect(ids).toEqual([alerts[2]?.id, alerts[2]?.id]);
      expect(hook.received[1]?.event.data["alerts"]).toMatchObject([
        { type: "budget.threshold_reached", threshold_percent: 100 },
        { type: "hard_cap.threshold_reached", threshold_percent: 100 },
      ]);
      await waitForStates("email", ["delivered", "delivered", "delivered", "delivered"]);
      const subjects = new Set(mailServer.received.map(({ mail }) => mail.subject));
      expect(subjects.size).toBe(3);
      expect(await request()).toBe(402);
      expect(await listAlerts()).toHaveLength(4);
    },
    START_TIMEOUT_MS,
  );
});
