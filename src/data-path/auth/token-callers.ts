/**
 * Callers with a token: from its claims to the organization, the user with this issuer and subject, and the
 * user's key without a secret. User and key are created at the first request if the provider's settings allow
 * it. A key never changes its owner, so the result is cached; claims are read with each request. Admission
 * decides about limits, as for any key.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import { setBounded } from "../../shared/collections/set-bounded.ts";
import { KEY_SETTINGS } from "../../shared/settings/key.ts";
import { newKeySettings } from "../../shared/settings/new-key.ts";
import { defaultsOf, describeSettings, recordSettings } from "../../shared/settings/table.ts";
import { USER_SETTINGS, type UserSettings } from "../../shared/settings/user.ts";
import { displayProviderKey, providerKeyHash } from "../store/management/provider-keys.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { AuditFields, AuditInput } from "../../shared/stored/audit.ts";
import type { KeyRecord } from "../../shared/stored/management.ts";
import type { ExternalIdentity, UserRecord } from "../../shared/stored/owners.ts";
import type { Caller } from "./key-directory.ts";
import type { TokenIssuers, VerifiedToken } from "./read-token.ts";
import { textClaim, textClaims } from "./token-claims.ts";

/** Entry of `jwt.providers`. */
export interface TokenProvider {
  readonly name: string;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly subjectClaim: string;
  readonly nameClaim: string | null;
  readonly groupsClaim: string | null;
  readonly boundClaims: readonly Wanted[];
  readonly organization: string | null;
  readonly organizationClaim: string | null;
  readonly organizations: readonly Wanted[];
  readonly onUnknown: "create" | "reject";
  readonly groups: readonly { readonly equals: string; readonly group: string; readonly priority: number }[];
}

interface Wanted {
  readonly name: string;
  readonly wanted: string;
}

export interface TokenCallersOptions {
  readonly providers: readonly TokenProvider[];
  readonly store: Pick<
    Store,
    "findExternalUser" | "findOrCreateExternalUser" | "findOrCreateProviderKey" | "getOrganization"
  >;
  readonly clock: Clock;
  /** Maximum number of callers; the oldest is evicted first. About 500 bytes each. */
  readonly maxEntries?: number;
}

const DEFAULT_MAX_ENTRIES = 50_000;
/** Time for which a rejection is remembered: shields Redis from a client that retries. */
const REFUSED_FOR_MS = 3_000;
const MAX_REFUSED = 10_000;
const MAX_SUBJECT_CHARACTERS = 1_024;
const MAX_NAME_CHARACTERS = 100;

/** Groups by claim value, ordered by priority: of several values the first one counts. */
type GroupOrder = ReadonlyMap<string, { readonly group: string; readonly place: number }>;

/** Identity to look up in the store. */
interface Identity {
  readonly provider: TokenProvider;
  readonly organizationId: string;
  readonly external: ExternalIdentity;
  readonly claims: VerifiedToken["claims"];
  readonly groupId: string | null;
  readonly requestId: string;
}

type KnownCaller = Omit<Caller, "groupId">;

export class TokenCallers {
  readonly issuers: TokenIssuers;
  readonly #providers: ReadonlyMap<string, TokenProvider & { readonly groupOrder: GroupOrder }>;
  readonly #options: Required<TokenCallersOptions>;
  readonly #known = new Map<string, KnownCaller>();
  /** Entries in `#known` by key: a provider has one key per user. */
  readonly #ofKey = new Map<string, string>();
  /** Errors of rejected callers, and the monotonic milliseconds until which they are remembered. */
  readonly #refused = new Map<string, { readonly untilMs: number; readonly error: GatewayError }>();
  /** Look-ups in progress: concurrent requests share one. */
  readonly #lookUps = new Map<string, Promise<KnownCaller>>();

  constructor(options: TokenCallersOptions) {
    this.#options = { maxEntries: DEFAULT_MAX_ENTRIES, ...options };
    this.issuers = new Map(options.providers.map((provider) => [provider.name, provider]));
    this.#providers = new Map(
      options.providers.map((provider) => [
        provider.name,
        { ...provider, groupOrder: orderGroups(provider) },
      ]),
    );
  }

  /**
   * Returns the caller of a valid token.
   * @param requestId For the audit log, if a user is created.
   * @throws GatewayError 403 `identity_not_allowed`; errors of the store.
   */
  async find({ provider: name, claims }: VerifiedToken, requestId: string): Promise<Caller> {
    const provider = this.#providers.get(name);
    if (provider === undefined) throw refuse("of a provider that is not configured here");
    requireBoundClaims(provider, claims);
    const organizationId = organizationOf(provider, claims);
    const external = { issuer: provider.issuer, subject: subjectOf(provider, claims) };
    const groupId = groupOf(provider, claims);
    const cacheKey = JSON.stringify([name, organizationId, external.subject]);
    const known = this.#known.get(cacheKey);
    if (known !== undefined) return { ...known, groupId };
    const refused = this.#refused.get(cacheKey);
    if (refused !== undefined && refused.untilMs > this.#options.clock.monotonicMs()) throw refused.error;
    const found = await this.#shareLookUp(cacheKey, {
      provider,
      organizationId,
      external,
      claims,
      groupId,
      requestId,
    });
    return { ...found, groupId };
  }

  /** Removes a caller whose key or user no longer exists, as admission found: the next request looks it up again. */
  remove(caller: Caller): void {
    const cacheKey = this.#ofKey.get(caller.keyId);
    if (cacheKey === undefined) return;
    this.#ofKey.delete(caller.keyId);
    this.#known.delete(cacheKey);
  }

  #remember(cacheKey: string, caller: KnownCaller): void {
    this.#ofKey.set(caller.keyId, cacheKey);
    const dropped = setBounded(this.#known, cacheKey, caller, this.#options.maxEntries);
    for (const { keyId } of dropped) this.#ofKey.delete(keyId);
  }

  async #shareLookUp(cacheKey: string, identity: Identity): Promise<KnownCaller> {
    const running = this.#lookUps.get(cacheKey);
    if (running !== undefined) return running;
    const started = this.#lookUp(cacheKey, identity).finally(() => this.#lookUps.delete(cacheKey));
    this.#lookUps.set(cacheKey, started);
    return started;
  }

  async #lookUp(cacheKey: string, identity: Identity): Promise<KnownCaller> {
    const { clock } = this.#options;
    try {
      const caller = await this.#findOrCreate(identity);
      this.#remember(cacheKey, caller);
      return caller;
    } catch (error) {
      if (error instanceof GatewayError) {
        setBounded(
          this.#refused,
          cacheKey,
          { untilMs: clock.monotonicMs() + REFUSED_FOR_MS, error },
          MAX_REFUSED,
        );
      }
      throw error;
    }
  }

  async #findOrCreate(identity: Identity): Promise<KnownCaller> {
    const { organizationId, provider } = identity;
    const { store } = this.#options;
    const user = await this.#findUser(identity);
    const organization = await store.getOrganization(organizationId);
    if (organization === null) throw refuse(NO_ORGANIZATION);
    const name = displayProviderKey(provider.name);
    const settings = { ...newKeySettings(name, organization.keyDefaults), userId: user.id };
    const key = await store.findOrCreateProviderKey(organizationId, provider.name, settings, (made) =>
      describeKey(made, user, identity),
    );
    if (key === null) throw refuse(NO_ORGANIZATION);
    return { organizationId, keyId: key.id, presentedHash: providerKeyHash(key.id), userId: user.id };
  }

  async #findUser(identity: Identity): Promise<UserRecord> {
    const { store } = this.#options;
    const { organizationId, external, provider } = identity;
    if (provider.onUnknown === "reject") {
      const user = await store.findExternalUser(organizationId, external);
      if (user === null) throw refuse(UNKNOWN);
      return user;
    }
    const create = (settings: UserSettings) =>
      store.findOrCreateExternalUser(organizationId, external, settings, (made) =>
        describeUser(made, identity),
      );
    const settings = createSettings(identity);
    const result = await create(settings);
    const last = result.outcome === "group_missing" ? await create({ ...settings, groupId: null }) : result;
    if (last.outcome === "full") throw refuse(FULL);
    if (last.outcome === "not_found" || last.outcome === "group_missing") throw refuse(NO_ORGANIZATION);
    return last.user;
  }
}

const NO_ORGANIZATION =
  "Your token is valid, but its organization doesn't exist in this gateway. Contact the operator of this gateway.";
const UNKNOWN =
  "Your token is valid, but this gateway has no user for it and doesn't create users automatically. Contact the operator of this gateway.";
const FULL =
  "Your token is valid, but the organization has reached its limit of users. Ask an admin of the organization to delete some.";

function refuse(message: string): GatewayError {
  return new GatewayError("identity_not_allowed", { message });
}

function requireBoundClaims({ boundClaims }: TokenProvider, claims: VerifiedToken["claims"]): void {
  const missed = boundClaims.find(({ name, wanted }) => !textClaims(claims, name).includes(wanted));
  if (missed === undefined) return;
  throw refuse(
    `Your token is valid, but its claim \`${missed.name}\` has none of the values that this gateway requires. Contact the operator of this gateway.`,
  );
}

function organizationOf(
  { organization, organizationClaim, organizations }: TokenProvider,
  claims: VerifiedToken["claims"],
): string {
  if (organization !== null) return organization;
  const values = textClaims(claims, organizationClaim ?? "");
  const found = organizations.find(({ name }) => values.includes(name));
  if (found !== undefined) return found.wanted;
  throw refuse(
    `Your token is valid, but its claim \`${organizationClaim ?? ""}\` names no organization of this gateway. Contact the operator of this gateway.`,
  );
}

function subjectOf({ subjectClaim }: TokenProvider, claims: VerifiedToken["claims"]): string {
  const subject = textClaim(claims, subjectClaim);
  if (subject !== null && subject.length <= MAX_SUBJECT_CHARACTERS) return subject;
  throw refuse(
    `The token names no caller: its claim \`${subjectClaim}\` must be a string of at most ${MAX_SUBJECT_CHARACTERS} characters. Contact your identity provider.`,
  );
}

function orderGroups({ groups }: TokenProvider): GroupOrder {
  const inOrder = groups.toSorted((one, next) => next.priority - one.priority);
  const order = new Map<string, { readonly group: string; readonly place: number }>();
  for (const [place, { equals, group }] of inOrder.entries()) {
    if (!order.has(equals)) order.set(equals, { group, place });
  }
  return order;
}

/** Returns the group of the highest priority; null: the user's own. */
function groupOf(
  { groupsClaim, groupOrder }: TokenProvider & { readonly groupOrder: GroupOrder },
  claims: VerifiedToken["claims"],
): string | null {
  if (groupsClaim === null || groupOrder.size === 0) return null;
  let best: { readonly group: string; readonly place: number } | null = null;
  for (const value of textClaims(claims, groupsClaim)) {
    const found = groupOrder.get(value);
    if (found !== undefined && (best === null || found.place < best.place)) best = found;
  }
  return best === null ? null : best.group;
}

/** Returns the initial settings of a new user. */
function createSettings({ provider, external, claims, groupId }: Identity): UserSettings {
  const wanted = provider.nameClaim === null ? null : textClaim(claims, provider.nameClaim);
  const name = [wanted, external.subject].map(formatName).find((text) => text !== null) ?? "-";
  const isAddress = wanted !== null && USER_SETTINGS.email.kind.input.safeParse(wanted).success;
  return { ...defaultsOf(USER_SETTINGS), name, email: isAddress ? wanted : null, groupId };
}

/** Returns a valid user name from a claim's text; null if nothing of it is visible. */
function formatName(text: string | null): string | null {
  const visible = (text ?? "").replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
  const cut = Array.from(visible).slice(0, MAX_NAME_CHARACTERS);
  const parsed = USER_SETTINGS.name.kind.input.safeParse(cut.join("").trim());
  return parsed.success ? parsed.data : null;
}

function describeUser(made: UserRecord, { external, requestId }: Identity): AuditInput {
  const { issuer, subject } = external;
  return describeCreation(
    made,
    { external, requestId },
    {
      target: { type: "user", id: made.id, name: made.name },
      after: {
        ...(describeSettings(USER_SETTINGS, made) satisfies AuditFields),
        external: { issuer, subject },
      },
    },
  );
}

function describeKey(made: KeyRecord, user: UserRecord, { external, requestId }: Identity): AuditInput {
  return describeCreation(
    user,
    { external, requestId },
    {
      target: { type: "key", id: made.id, name: made.name },
      after: recordSettings(KEY_SETTINGS, made) satisfies AuditFields,
    },
  );
}

/** Describes the creation in the audit log as the user's own action. */
function describeCreation(
  { id, name }: UserRecord,
  { external, requestId }: Pick<Identity, "external" | "requestId">,
  { target, after }: Pick<AuditInput, "target" | "after">,
): AuditInput {
  const action = `${target.type}.created`;
  const { issuer, subject } = external;
  return {
    actor: { type: "person", id, name, role: "member", issuer, subject },
    action,
    target,
    before: null,
    after,
    requestId,
  };
}
