/** The sample company with what pictures need in addition: sign-ins of a member and a key, a webhook, other organizations. */
import { onTestFinished } from "vitest";
import { Sessions } from "../../src/management/admin/dashboard/session.ts";
import { IdentityProviders } from "../../src/management/admin/identity/identity-providers.ts";
import type { HostFinding } from "../../src/shared/host/finding.ts";
import { mapTogether } from "../../src/shared/event-loop/map-together.ts";
import { type AdminUnderTest, createOrganization, OPERATOR_TOKEN } from "../admin/admin-fixture.ts";
import type { PicturedPage } from "./pictured-pages.ts";
import { startSample } from "./sample.ts";

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
  const webhook = { url: "https://alerts.northwind.example/hooks" };
  const { notifications } = await admin.ok("PATCH", api, {
    body: { notifications: { webhooks: [webhook] } },
  });
  await mapTogether(Array.from({ length: others }), 10, (_, index) =>
    createOrganization(admin, { name: `Customer ${index + 1}` }),
  );
  if (others > 0) {
    await admin.ok("DELETE", `/api/organizations/${await createOrganization(admin, { name: "Gone" })}`);
  }
  const [userId = ""] = filled.userIds;
  const ids: Readonly<Record<string, string | undefined>> = {
    organization: filled.id,
    key: filled.keyIds[1],
    user: userId,
    group: filled.groupIds[1],
    request: await findRequest(admin, api),
    ownRequest: await findRequest(admin, api, `&user_id=${userId}`),
    alert: await firstId(admin, `${api}/alerts`),
    webhook: (notifications as { webhooks: readonly { id: string }[] }).webhooks[0]?.id,
  };
  return {
    admin,
    urlOf: ({ route, query = "" }) =>
      `${admin.url}${route.replaceAll(/:(\w+)/g, (_, name: string) => String(ids[name]))}${query}`,
    async beginSession(reader) {
      const sessions = new Sessions(OPERATOR_TOKEN, admin.store, PROVIDERS);
      const own = { organizationId: filled.id, userId };
      if (reader === "member") return (await sessions.beginPerson({ ...MEMBER, ...own }, "")).secret;
      if (reader === undefined) return (await sessions.begin(OPERATOR_TOKEN)).secret;
      const { key } = await admin.ok("POST", `${api}/keys/${filled.keyIds[0]}/rotate`, {
        body: { grace_seconds: 3600 },
      });
      return (await sessions.begin(String(key))).secret;
    },
  };
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
