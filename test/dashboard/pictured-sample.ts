/** The sample company with what pictures need in addition: sign-ins of a member and a key, a webhook, other organizations; or nothing. */
import { onTestFinished } from "vitest";
import { Sessions } from "../../src/management/admin/dashboard/session.ts";
import { IdentityProviders } from "../../src/management/admin/identity/identity-providers.ts";
import type { HostFinding } from "../../src/shared/host/finding.ts";
import { mapTogether } from "../../src/shared/event-loop/map-together.ts";
import { type AdminUnderTest, createOrganization, OPERATOR_TOKEN } from "../admin/admin-fixture.ts";
import type { PicturedPage } from "./pictured-pages.ts";
import { startModels, startSample } from "./sample.ts";

/** A provider whose members stay members: which groups give which role is another test's. */
class GrantingProviders extends IdentityProviders {
  override isStillGranted(): boolean {
    return true;
  }
}
const PROVIDERS = new GrantingProviders({ configs: [], baseUrl: "", nowMs: () => 0 });

const MEMBER = {
  type: "person",
  provider: "corp",
  issuer: "https://login.northwind.example",
  subject: "anna",
  name: "Anna Berg",
  groups: ["members"],
  role: "member",
} as const;

const FINDINGS: readonly HostFinding[] = [
  {
    check: "redis.persistence",
    level: "problem",
    message: "Redis keeps nothing on disk: a restart loses all API keys, limits and spend.",
    fix: "Set appendonly yes in Redis's configuration.",
    since: null,
  },
  {
    check: "workers",
    level: "ok",
    message: "2 of 2 workers run.",
    fix: null,
    since: null,
  },
  {
    check: "envoy.filters",
    level: "skipped",
    message: "Envoy's admin interface is off.",
    fix: null,
    since: null,
  },
];

export interface PicturedSample {
  readonly admin: AdminUnderTest;
  readonly urlOf: (page: PicturedPage) => string;
  /** Signs in the reader of pages. Returns the value of the session's cookie. */
  readonly beginSession: (reader?: "member" | "key") => Promise<string>;
}

/** @param others Number of other organizations. */
export async function startPicturedSample(keys: number, others = 0): Promise<PicturedSample> {
  const { admin, filled } = await startSample(keys, { providers: PROVIDERS, examine: async () => FINDINGS });
  onTestFinished(() => admin.stop());
  const api = `/api/organizations/${filled.id}`;
  await mapTogether(Array.from({ length: others }), 10, (_, index) =>
    createOrganization(admin, { name: `Customer ${index + 1}` }),
  );
  if (others > 0) {
    await admin.ok("DELETE", `/api/organizations/${await createOrganization(admin, { name: "Gone" })}`);
  }
  const [user] = filled.userIds;
  return createSample(admin, {
    organization: filled.id,
    key: filled.keyIds[1],
    ownKey: filled.keyIds[0],
    user,
    group: filled.groupIds[1],
    request: await findRequest(admin, api),
    ownRequest: await findRequest(admin, api, `&user_id=${user}`),
    alert: await firstId(admin, `${api}/alerts`),
    webhook: await addWebhook(admin, api),
  });
}

/** No organization at all, one that has nothing, or one with a key, a user, a group and a webhook without use. */
export type Lack = "organizations" | "things" | "use";

export async function startEmptySample(lack: Lack): Promise<PicturedSample> {
  const admin = await startModels({ providers: PROVIDERS, examine: async () => [] });
  onTestFinished(() => admin.stop());
  if (lack === "organizations") return createSample(admin, {});
  const organization = await createOrganization(admin, { name: "Empty" });
  if (lack === "things") return createSample(admin, { organization });
  const api = `/api/organizations/${organization}`;
  const create = async (kind: string, body: object) =>
    String((await admin.ok("POST", `${api}/${kind}`, { body }))["id"]);
  const group = await create("groups", { name: "Research" });
  const user = await create("users", { name: MEMBER.name, group_id: group });
  const key = await create("keys", { name: "ci" });
  const webhook = await addWebhook(admin, api);
  return createSample(admin, { organization, group, user, key, ownKey: key, webhook });
}

/** Returns what the page lacks when it is empty; null: it always has something. */
export function lackOf({ route, as }: PicturedPage): Lack | null {
  if (!route.includes(":organization")) return as === undefined ? "organizations" : null;
  if (/:(?:request|ownRequest|alert)$/.test(route)) return null;
  return as !== undefined || /:(?:key|user|group|webhook)$/.test(route) ? "use" : "things";
}

/** @param ids Values of the routes' parameters. */
function createSample(
  admin: AdminUnderTest,
  ids: Readonly<Record<string, string | undefined>>,
): PicturedSample {
  const { organization = "", user: userId = "" } = ids;
  return {
    admin,
    urlOf: ({ route, query = "" }) =>
      `${admin.url}${route.replaceAll(/:(\w+)/g, (_, name: string) => String(ids[name]))}${query}`,
    async beginSession(reader) {
      const sessions = new Sessions(OPERATOR_TOKEN, admin.store, PROVIDERS);
      const own = { organizationId: organization, userId };
      if (reader === "member") return (await sessions.beginPerson({ ...MEMBER, ...own }, "")).secret;
      if (reader === undefined) return (await sessions.begin(OPERATOR_TOKEN)).secret;
      const path = `/api/organizations/${organization}/keys/${ids["ownKey"]}/rotate`;
      const { key } = await admin.ok("POST", path, { body: { grace_seconds: 3600 } });
      return (await sessions.begin(String(key))).secret;
    },
  };
}

async function addWebhook(admin: AdminUnderTest, api: string): Promise<string | undefined> {
  const webhooks = [{ url: "https://alerts.northwind.example/hooks" }];
  const { notifications } = await admin.ok("PATCH", api, { body: { notifications: { webhooks } } });
  return (notifications as { webhooks: readonly { id: string }[] }).webhooks[0]?.id;
}

async function firstId(admin: AdminUnderTest, path: string): Promise<string | undefined> {
  const { data } = await admin.ok("GET", path);
  return (data as readonly { id: string }[])[0]?.id;
}

/** Finds a failed request, or else the newest. */
async function findRequest(admin: AdminUnderTest, api: string, filter = ""): Promise<string | undefined> {
  const { data } = await admin.ok("GET", `${api}/requests?limit=100${filter}`);
  const listed = data as readonly { id: string; status: number }[];
  return (listed.find(({ status }) => status >= 500) ?? listed[0])?.id;
}
