/** Attacks that reach what all share beside the request path: logs, Redis, the management API and the mail server. */
import { Agent } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { type HttpAnswer, send } from "../../support/http.ts";
import { cookieOf, createPageClient } from "../../support/page-client.ts";
import { createBody, createOrder } from "../orders.ts";
import { type Attack, repeat, type Target } from "./attack.ts";
import { sendCall } from "./raw-call.ts";

const CHAT = "/v1/chat/completions";
/** A little less than Envoy takes of all headers. */
const LONG_FIELD = 28_000;
const UNKNOWN_FIELDS = 45_000;
/** What should hold at once is tried again for so long: every attack may run at the same time. */
const SHOWN_WITHIN_MS = 60_000;
const KEPT_SESSIONS = 20;

type Role = keyof Target["management"]["tokens"];

function call({ management }: Target, role: Role, method: string, path: string, body?: object | string) {
  const { url, organizationId, tokens } = management;
  return send(url, {
    method,
    path: `/api/organizations/${organizationId}${path}`,
    headers: { authorization: `Bearer ${tokens[role]}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body }),
  });
}

/** Repeats a call. @throws Error if it never has this status: then nothing was tried. */
async function repeatCall(
  times: number,
  atOnce: number,
  status: number,
  make: (index: number) => Promise<HttpAnswer>,
): Promise<void> {
  const others = new Set<string>();
  let expected = 0;
  await repeat(times, atOnce, async (index) => {
    const answer = await make(index);
    if (answer.status === status) expected += 1;
    else others.add(`${answer.status} ${answer.text.slice(0, 200)}`);
  });
  if (expected === 0) throw new Error(`expected ${status}, found ${[...others].join("\n")}`);
}

/** @throws Error if it doesn't become true. */
async function show(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + SHOWN_WITHIN_MS;
  while (!(await isTrue())) {
    if (performance.now() > until) throw new Error(`not so: ${what}`);
    await wait(100);
  }
}

/** By strangers: 56 kB of a request may stand in its line. */
const logFlood: Attack = async ({ port, isLong }) => {
  const agent = new Agent({ keepAlive: true });
  const headers = { "user-agent": "u".repeat(LONG_FIELD) };
  const path = `/v1/${"p".repeat(LONG_FIELD)}`;
  await repeatCall(isLong ? 10_000 : 400, 8, 401, () =>
    send(`http://127.0.0.1:${port}`, { method: "GET", path, headers, agent }),
  );
  agent.destroy();
};

/** A viewer's, of a month with many rows: by every group, as the dashboard asks, and as exports that nobody reads. */
const usageReports: Attack = async (target) => {
  const { month } = target.management;
  const queries = ["", "&group_by=key", "&group_by=model,day", "&group_by=user"];
  await repeatCall(target.isLong ? 80 : 16, 8, 200, (index) => {
    const query = queries[index % queries.length] ?? "";
    return call(target, "viewer", "GET", `/usage?month=${month}${query}`);
  });
  await Promise.all([1, 2, 3].map(() => leaveExport(target, month)));
};

async function leaveExport({ management }: Target, month: string): Promise<void> {
  const { url, organizationId, tokens } = management;
  await send(url, {
    method: "GET",
    path: `/api/organizations/${organizationId}/usage/export?month=${month}`,
    headers: { authorization: `Bearer ${tokens.viewer}` },
    onData: () => "abort",
  }).catch(() => undefined);
}

/** Each of them close to a known one. */
const unknownFields: Attack = async (target) => {
  const fields = Array.from({ length: UNKNOWN_FIELDS }, (_, index) => `"hard_cap_${index}":1`);
  const body = `{${fields.join(",")}}`;
  await repeatCall(target.isLong ? 200 : 24, 8, 400, () => call(target, "admin", "PATCH", "", body));
};

/** One member's answers take hours of a shared limit. An admin raises it, and the other member is served. */
const sharedTokens: Attack = async (target) => {
  const { spender, neighbor } = target.management.keys;
  let limit = 1_000;
  const raise = () => call(target, "admin", "PATCH", "", { tokens_per_minute: (limit += 1) });
  const ask = (key: string, outputTokens: number) =>
    sendCall(target, { key, path: CHAT, body: createBody(CHAT, createOrder({ outputTokens })) });
  await repeatCall(1, 1, 200, raise);
  await repeat(target.isLong ? 400 : 40, 20, () => ask(spender, 8_000));
  await show("a raised limit serves the neighbor", async () => {
    await raise();
    return (await ask(neighbor, 1)).includes('"finish_reason"');
  });
  await call(target, "admin", "PATCH", "", { tokens_per_minute: null });
};

/** Each leaves a record of the deleted key, and two entries of the audit log. */
const redisGrowth: Attack = async (target) => {
  const name = "n".repeat(80);
  await repeatCall(target.isLong ? 11_000 : 80, 8, 204, async (index) => {
    const made = await call(target, "admin", "POST", "/keys", { name: `${name}-${index}` });
    if (made.status !== 201) return made;
    return await call(target, "admin", "DELETE", `/keys/${String(made.json()["id"])}`);
  });
};

/** A viewer signs in again and again; an admin's session stays. */
const signIns: Attack = async (target) => {
  const { url, organizationId, tokens } = target.management;
  const client = createPageClient(url);
  const admin = cookieOf(await client.signIn(tokens.admin));
  await repeatCall(target.isLong ? 2_000 : 2 * KEPT_SESSIONS, 8, 303, () => client.signIn(tokens.viewer));
  await show("the admin is signed in", async () => {
    return (await client.get(`/organizations/${organizationId}`, admin)).status === 200;
  });
};

/** A budget that is reached again with each change, for twenty addresses and a webhook that never answers. */
const alertFlood: Attack = async (target) => {
  const emails = Array.from({ length: 20 }, (_, index) => `someone-${index}@example.com`);
  const { keys, silentUrl } = target.management;
  await sendCall(target, { key: keys.spender, path: CHAT, body: createBody(CHAT, createOrder()) });
  await repeatCall(target.isLong ? 4_000 : 60, 8, 200, (index) =>
    call(target, "admin", "PATCH", "", {
      budget_cents: index + 1,
      notifications: { emails, webhook: { url: silentUrl } },
    }),
  );
};

export const MANAGEMENT_ATTACKS = {
  "an access log flooded by strangers": logFlood,
  "reports of a month's usage": usageReports,
  "bodies of 45,000 unknown fields": unknownFields,
  "a shared token limit driven down": sharedTokens,
  "keys created and deleted": redisGrowth,
  "sign-ins without end": signIns,
  "emails and webhooks without end": alertFlood,
} satisfies Record<string, Attack>;
