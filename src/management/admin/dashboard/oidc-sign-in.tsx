/**
 * Sign-in with an identity provider: a link to it, and the page to which it redirects back. The provider
 * signs who the user is; `gateway.yaml` decides rights, again on each page.
 */
import type { Context } from "hono";
import type { Identity, IdentityProvider } from "../../oidc/identity-provider.ts";
import { OidcError, type OidcFailure } from "../../oidc/oidc-error.ts";
import { chooseRole, type Grant } from "../../oidc/roles.ts";
import {
  beginTransaction,
  formatTransaction,
  parseTransaction,
  type Transaction,
} from "../../oidc/transaction.ts";
import { shorten } from "../../../shared/text/shorten.ts";
import { addressOf, MinuteLimit } from "../minute-limit.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminApp, AdminAppOptions, AdminEnvironment } from "../app-options.ts";
import { convertError } from "../convert-error.ts";
import { NO_PROVIDERS } from "../identity/identity-providers.ts";
import { findUser } from "../identity/find-user.ts";
import { type Journal, recordRefusal, recordStart } from "../identity/record-sign-in.ts";
import { answerMarkup } from "./page.ts";
import { SESSION, TRANSACTION } from "./cookies.ts";
import { MovedPage, NotSignedInPage } from "./pages/sign-in.tsx";
import type { Sessions } from "./session.ts";
import { ownPath } from "./sign-in.tsx";

type SignInContext = Context<AdminEnvironment>;

const PATH = "/sign-in/oidc/:provider";
/** Limit per address and minute: more than people behind a proxy mistype, and few enough for the log. */
const MAX_FAILED_SIGN_INS = 60;
const MAX_REASON_CHARACTERS = 300;

/** Adds the pages that lead to the providers and back. */
export function addOidcSignIn(app: AdminApp, options: AdminAppOptions, sessions: Sessions): void {
  const { providers = NO_PROVIDERS } = options;
  const limit = new MinuteLimit(MAX_FAILED_SIGN_INS);
  const answerWith = (
    path: string,
    run: (context: SignInContext, provider: IdentityProvider) => Promise<Response>,
  ): void => {
    app.get(path, async (context, next) => {
      const provider = providers.find(context.req.param("provider") ?? "");
      if (provider === null) return next();
      try {
        requirePatience(context, limit, options.nowMs());
        return await run(context, provider);
      } catch (thrown) {
        return answerFailure(context, provider, { thrown, limit, options });
      }
    });
  };
  answerWith(PATH, lead);
  answerWith(`${PATH}/callback`, (context, provider) => finish(context, provider, options, sessions));
}

async function lead(context: SignInContext, provider: IdentityProvider): Promise<Response> {
  const transaction = beginTransaction(provider.name, ownPath(context.req.query("next") ?? "/"));
  const url = await provider.createAuthorizationUrl(transaction);
  TRANSACTION.write(context, formatTransaction(transaction));
  return context.redirect(url, 302);
}

async function finish(
  context: SignInContext,
  provider: IdentityProvider,
  options: AdminAppOptions,
  sessions: Sessions,
): Promise<Response> {
  const transaction = readTransaction(context, provider);
  TRANSACTION.clear(context);
  if (transaction === null) throw refuseTransaction();
  const identity = await provider.identify(new URL(context.req.url).search, transaction);
  const { store, logger } = options;
  const journal = { store, logger, requestId: context.get("requestId") };
  const grant = await requireRole(provider, identity, options, journal);
  const { issuer, subject, name, groups } = identity;
  const userId = await findUser(grant, { ...identity, provider: provider.name }, journal, store);
  const former = SESSION.read(context);
  const person = { type: "person", provider: provider.name, issuer, subject, name, groups, userId } as const;
  const begun = await sessions.beginPerson({ ...person, ...grant }, identity.idToken);
  SESSION.write(context, begun.secret);
  if (former !== null) await sessions.end(former);
  const formerRole = await store.rememberRole({ issuer, subject }, grant);
  await recordStart(journal, { ...person, ...grant, sealedIdToken: null }, formerRole);
  return answerMarkup(context, <MovedPage title="Signed in" to={ownPath(transaction.next)} />, 200);
}

/**
 * @throws AdminError 403 if the configuration gives the person no role, or one of an organization that does
 * not exist.
 */
async function requireRole(
  provider: IdentityProvider,
  identity: Identity,
  { store }: AdminAppOptions,
  journal: Journal,
): Promise<Grant> {
  const person = { ...identity, provider: provider.name };
  const grant = chooseRole(provider.config.roles, identity.groups);
  if (grant === null) {
    await recordRefusal(journal, person, "no_role");
    const message = `${provider.name} knows you as ${identity.name}, but \`gateway.yaml\` has no role for you. Contact the operator of this gateway.`;
    throw new AdminError("permission_denied", { message });
  }
  if (grant.role === "operator") return grant;
  const organization = await store.getOrganization(grant.organizationId);
  if (organization !== null && organization.deletedAtMs === null) return grant;
  await recordRefusal(journal, person, "organization_not_found");
  const message = `The organization of your role, ${grant.organizationId}, doesn't exist. Contact the operator of this gateway.`;
  throw new AdminError("permission_denied", { message });
}

/** Returns the sign-in with this provider that the browser started, or null. */
function readTransaction(context: SignInContext, provider: IdentityProvider): Transaction | null {
  const transaction = parseTransaction(TRANSACTION.read(context) ?? "");
  return transaction?.provider === provider.name ? transaction : null;
}

function refuseTransaction(): AdminError {
  const message =
    "This sign-in started in another browser, took too long, or cookies are off. Sign in again.";
  return new AdminError("permission_denied", { message });
}

function requirePatience(context: SignInContext, limit: MinuteLimit, nowMs: number): void {
  const wait = limit.waitSeconds(addressOf(context), nowMs);
  if (wait === 0) return;
  const message = `Too many sign-ins failed from your address. Try again in ${wait} seconds.`;
  throw new AdminError("too_many_wrong_tokens", { message, headers: { "retry-after": String(wait) } });
}

const FAILURES: Readonly<
  Record<OidcFailure, { readonly status: number; readonly explain: (name: string) => string }>
> = {
  unreachable: {
    status: 503,
    explain: (name) => `The identity provider ${name} is unreachable. Try again in a moment.`,
  },
  clock: {
    status: 403,
    explain: (name) =>
      `The ID token from ${name} has expired or isn't valid yet. Contact the operator: the clock of ${name} or of this gateway is wrong.`,
  },
  refused: {
    status: 403,
    explain: (name) =>
      `The sign-in with ${name} failed: it was rejected, already used or changed. Sign in again.`,
  },
};

interface Failure {
  readonly thrown: unknown;
  readonly limit: MinuteLimit;
  readonly options: AdminAppOptions;
}

function answerFailure(
  context: SignInContext,
  provider: IdentityProvider,
  { thrown, limit, options }: Failure,
): Promise<Response> {
  const requestId = context.get("requestId");
  const countFailure = (): void => {
    // A callback without a started sign-in costs no call to the provider. Counting it would let one client
    // block sign-in for all behind a proxy.
    if (readTransaction(context, provider) === null) return;
    limit.count(addressOf(context), options.nowMs());
  };
  if (thrown instanceof OidcError) {
    if (thrown.failure !== "unreachable") countFailure();
    const reason = shorten(thrown.message, MAX_REASON_CHARACTERS);
    options.logger.warn(
      { provider: provider.name, reason, request_id: requestId },
      "sign-in with identity provider failed",
    );
    const { status, explain } = FAILURES[thrown.failure];
    return answerMarkup(
      context,
      <NotSignedInPage message={explain(provider.name)} requestId={requestId} />,
      status,
    );
  }
  const error = convertError(thrown, false);
  if (error.status < 500) {
    countFailure();
  } else {
    const fields = { err: error.cause ?? error, request_id: requestId };
    options.logger.error(fields, "sign-in with identity provider failed");
  }
  for (const [name, value] of Object.entries(error.headers)) context.header(name, value);
  const shownId = error.status >= 500 ? requestId : null;
  return answerMarkup(context, <NotSignedInPage message={error.message} requestId={shownId} />, error.status);
}
