/**
 * Who calls with a token: from its claims to the organization, the user that issuer and subject are there, and the key
 * without a secret that its requests go by. User and key are made at the first request where the provider says so.
 * Whose key it is never changes, so that it is kept; claims are read with each request. Nothing here decides about limits:
 * admission does, as of any key.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import { setBounded } from "../../shared/collections/set-bounded.ts";
import { KEY_SETTINGS } from "../../shared/settings/key.ts";
import { newKeySettings } from "../../shared/settings/new-key.ts";
import { defaultsOf, describeSettings } from "../../shared/settings/table.ts";
import { USER_SETTINGS, type UserSettings } from "../../shared/settings/user.ts";
import { displayProviderKey, providerKeyHash } from "../store/management/provider-keys.ts";
import type { Store } from "../store/types.ts";
import type { AuditFields, AuditInput } from "../store/types/audit.ts";
import type { KeyRecord } from "../store/types/management.ts";
import type { ExternalIdentity, UserRecord } from "../store/types/owners.ts";
import type { Caller } from "./key-directory.ts";
import type { TokenIssuers, VerifiedToken } from "./read-token.ts";
import { textClaim, textClaims } from "./token-claims.ts";

/** One of `jwt.providers`. */
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
  /** The most callers that are kept; the oldest goes first. About 500 bytes each. */
  readonly maxEntries?: number;
}

const DEFAULT_MAX_ENTRIES = 50_000;
/** How long it is remembered that somebody is refused: shields Redis from a client that tries again. */
const REFUSED_FOR_MS = 3_000;
const MAX_REFUSED = 10_000;
const MOST_SUBJECT_CHARACTERS = 1_024;
const MOST_NAME_CHARACTERS = 100;

/** The priority does not matter any more: of several values the first in this order counts. */
type GroupOrder = ReadonlyMap<string, { readonly group: string; readonly place: number }>;

/** Somebody whom the store is asked for. */
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
  /** Each known caller's key, and whose it is in `#known`: a provider has one key of a user. */
  readonly #ofKey = new Map<string, string>();
  /** Monotonic milliseconds until which somebody counts as refused, and how. */
  readonly #refused = new Map<string, { readonly untilMs: number; readonly error: GatewayError }>();
  /** Callers who are being looked up: of requests that come at once one asks. */
  readonly #asked = new Map<string, Promise<KnownCaller>>();

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
   * The caller that a good token is.
   * @param requestId For the audit log, where a user is made.
   * @throws GatewayError 403 `identity_not_allowed`; whatever the store throws.
   */
  async find({ provider: name, claims }: VerifiedToken, requestId: string): Promise<Caller> {
    const provider = this.#providers.get(name);
    if (provider === undefined) throw refuse("of a provider that is not configured here");
    requireBoundClaims(provider, claims);
    const organizationId = organizationOf(provider, claims);
    const external = { issuer: provider.issuer, subject: subjectOf(provider, claims) };
    const groupId = groupOf(provider, claims);
    const who = JSON.stringify([name, organizationId, external.subject]);
    const known = this.#known.get(who);
    if (known !== undefined) return { ...known, groupId };
    const refused = this.#refused.get(who);
    if (refused !== undefined && refused.untilMs > this.#options.clock.monotonicMs()) throw refused.error;
    const found = await this.#ask(who, { provider, organizationId, external, claims, groupId, requestId });
    return { ...found, groupId };
  }

  /** Admission found that its key or user is there no more: the next request looks again. */
  forget(caller: Caller): void {
    const who = this.#ofKey.get(caller.keyId);
    if (who === undefined) return;
    this.#ofKey.delete(caller.keyId);
    this.#known.delete(who);
  }

  #remember(who: string, caller: KnownCaller): void {
    this.#ofKey.set(caller.keyId, who);
    const dropped = setBounded(this.#known, who, caller, this.#options.maxEntries);
    for (const { keyId } of dropped) this.#ofKey.delete(keyId);
  }

  async #ask(who: string, identity: Identity): Promise<KnownCaller> {
    const asked = this.#asked.get(who);
    if (asked !== undefined) return asked;
    const asking = this.#lookUp(who, identity).finally(() => this.#asked.delete(who));
    this.#asked.set(who, asking);
    return asking;
  }

  async #lookUp(who: string, identity: Identity): Promise<KnownCaller> {
    const { clock } = this.#options;
    try {
      const caller = await this.#findOrCreate(identity);
      this.#remember(who, caller);
      return caller;
    } catch (error) {
      if (error instanceof GatewayError) {
        setBounded(this.#refused, who, { untilMs: clock.monotonicMs() + REFUSED_FOR_MS, error }, MAX_REFUSED);
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
    `Your token is valid, but its claim \`${organizationClaim ?? ""}\` leads to no organization of this gateway. Ask its operator.`,
  );
}

function subjectOf({ subjectClaim }: TokenProvider, claims: VerifiedToken["claims"]): string {
  const subject = textClaim(claims, subjectClaim);
  if (subject !== null && subject.length <= MOST_SUBJECT_CHARACTERS) return subject;
  throw refuse(
    `The token does not say who it is for: its claim \`${subjectClaim}\` is missing, or is no text.`,
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

/** The group of the highest priority; null: the user's own. */
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

/** The settings with which a new user begins. */
function createSettings({ provider, external, claims, groupId }: Identity): UserSettings {
  const wanted = provider.nameClaim === null ? null : textClaim(claims, provider.nameClaim);
  const name = [wanted, external.subject].map(formatName).find((text) => text !== null) ?? "-";
  const isAddress = wanted !== null && USER_SETTINGS.email.kind.input.safeParse(wanted).success;
  return { ...defaultsOf(USER_SETTINGS), name, email: isAddress ? wanted : null, groupId };
}

/** What can be a user's name of a claim's text; null: nothing of it can be seen. */
function formatName(text: string | null): string | null {
  const visible = (text ?? "").replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
  const cut = Array.from(visible).slice(0, MOST_NAME_CHARACTERS);
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
      after: describeSettings(KEY_SETTINGS, made) satisfies AuditFields,
    },
  );
}

/** The user's own doing. */
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
