/** A stack whose organization has two identity providers, and what the tests of tokens send. */
import { randomUUID } from "node:crypto";
import { afterAll } from "vitest";
import { ORGANIZATION_SETTINGS } from "../../../src/shared/settings/organization.ts";
import { USER_GROUP_SETTINGS } from "../../../src/shared/settings/user-group.ts";
import { defaultsOf } from "../../../src/shared/settings/table.ts";
import { createRedisClient, waitUntilReady } from "../../../src/data-path/store/redis/client.ts";
import { createStore } from "../../../src/data-path/store/redis-store.ts";
import { CHAT_PATH, type ChatStack, chatBody, withChatStack } from "../../support/chat-stack.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { type PrivateRedis, startRedis } from "../../support/redis.ts";
import type { StackOptions } from "../../support/stack.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/token-issuer.ts";

export interface TokenStack {
  readonly chat: ChatStack;
  /** Of the provider `corp`. */
  readonly corp: TokenIssuer;
  /** Of the provider `other`, which makes no users. */
  readonly other: TokenIssuer;
  readonly redis: PrivateRedis;
  readonly organizationId: string;
  readonly research: string;
  readonly platform: string;
  call(headers: Record<string, string | string[]>, path?: string): Promise<HttpAnswer>;
  bearer(token: string): Promise<HttpAnswer>;
}

/** What `corp` asks of every token. */
export const BOUND = { tenant: "acme" };

/** @param redisIsKept What Redis has outlives its death. */
export function withTokenStack(
  { redisIsKept = false, ...options }: Partial<StackOptions> & { readonly redisIsKept?: boolean } = {},
  beforeStart: (corp: TokenIssuer) => void | Promise<void> = () => undefined,
): TokenStack {
  const own: { redis?: PrivateRedis; corp?: TokenIssuer; other?: TokenIssuer } = {};
  const ids = { organization: "", research: "", platform: "" };
  const chat = withChatStack(async () => {
    own.redis = await startRedis({ appendOnly: redisIsKept });
    own.corp = await startTokenIssuer("https://login.example.com");
    own.other = await startTokenIssuer("https://other.example.com");
    await beforeStart(own.corp);
    Object.assign(ids, await createTokenOrganization(own.redis.url));
    const jwt = { providers: [corpProvider(own.corp, ids), otherProvider(own.other, ids)] };
    return { ...options, overrides: { redis: { url: own.redis.url }, jwt, ...options.overrides } };
  });
  afterAll(async () => {
    await own.corp?.close();
    await own.other?.close();
    await own.redis?.stop();
  });
  const required = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("used before the stack was started");
    return value;
  };
  const call: TokenStack["call"] = (headers, path = CHAT_PATH) =>
    chat.send({ path, key: null, headers, ...(path === CHAT_PATH ? { body: chatBody() } : {}) });
  return {
    chat,
    get corp() {
      return required(own.corp);
    },
    get other() {
      return required(own.other);
    },
    get redis() {
      return required(own.redis);
    },
    get organizationId() {
      return ids.organization;
    },
    get research() {
      return ids.research;
    },
    get platform() {
      return ids.platform;
    },
    call,
    bearer: (token) => call({ authorization: `Bearer ${token}` }),
  };
}

/** In the Redis of a stack that is not started yet. */
export async function createTokenOrganization(url: string) {
  const client = createRedisClient({ url, onError: () => undefined });
  await waitUntilReady(client, 10_000);
  const store = createStore({ client, usageMonths: 1 });
  const keyDefaults = { ...defaultsOf(ORGANIZATION_SETTINGS).keyDefaults, requestsPerMinute: 60_000 };
  const organization = await store.createOrganization({
    ...defaultsOf(ORGANIZATION_SETTINGS),
    name: `Tokens ${randomUUID()}`,
    currency: "USD",
    keyDefaults,
  });
  if (organization.outcome !== "created") throw new Error(organization.outcome);
  const { id } = organization.organization;
  const addGroup = async (name: string): Promise<string> => {
    const made = await store.createGroup(id, { ...defaultsOf(USER_GROUP_SETTINGS), name });
    if (made.outcome !== "created") throw new Error(made.outcome);
    return made.owner.id;
  };
  const groups = { research: await addGroup("Research"), platform: await addGroup("Platform") };
  client.disconnect();
  return { organization: id, ...groups };
}

type Ids = Record<"organization" | "research" | "platform", string>;

function corpProvider({ issuer, jwksUrl }: TokenIssuer, { organization, research, platform }: Ids) {
  return {
    name: "corp",
    issuer,
    audiences: [AUDIENCE],
    jwks: { url: jwksUrl, refresh_minutes: 1 },
    clock_skew_seconds: 5,
    name_claim: "email",
    groups_claim: "realm_access.roles",
    bound_claims: BOUND,
    organization,
    groups: [
      { equals: "ml-research", group: research, priority: 10 },
      { equals: "ml-platform", group: platform, priority: 20 },
    ],
  };
}

function otherProvider({ issuer, jwksUrl }: TokenIssuer, { organization }: Ids) {
  return {
    name: "other",
    issuer,
    audiences: [AUDIENCE, "second"],
    jwks: { url: jwksUrl, refresh_minutes: 1 },
    organization_claim: "https://example.com/org",
    organizations: { acme: organization, gone: "org_00000000-0000-7000-8000-000000000000" },
    on_unknown: "reject",
  };
}
