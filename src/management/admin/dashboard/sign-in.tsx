/** Sign-in with a token, and sign-out. */
import { looksLikeKey } from "../../../data-path/auth/key-format.ts";
import { STATUS_PAGE } from "../../../shared/contract/pages.ts";
import { randomBytes } from "node:crypto";
import type { Context } from "hono";
import { ERROR_PAGE } from "../../../shared/contract/error-reference.ts";
import { addressOf, MinuteLimit } from "../minute-limit.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminApp, AdminAppOptions } from "../app-options.ts";
import { convertError } from "../convert-error.ts";
import { NO_PROVIDERS } from "../identity/identity-providers.ts";
import { recordOperatorStart } from "../identity/record-sign-in.ts";
import { unseal } from "../identity/seal.ts";
import { OidcError } from "../../oidc/oidc-error.ts";
import type { PersonHolder } from "../../../shared/stored/sessions.ts";
import { answerMarkup } from "./page.ts";
import { SESSION, VISIT } from "./cookies.ts";
import { readForm, requireOwnPage } from "./own-page.ts";
import { ErrorsPage, ProblemPage } from "./pages/problem.tsx";
import { MovedPage, SignInPage } from "./pages/sign-in.tsx";
import { answerStatus } from "./pages/status.tsx";
import { createFormToken, isFormToken, type Sessions } from "./session.ts";

const START_PAGE = "/";
/** Limit per address and minute. */
const MAX_FAILED_SIGN_INS = 10;

/** Adds the pages that need no session. */
export function addSignIn(app: AdminApp, options: AdminAppOptions, sessions: Sessions): void {
  const limit = new MinuteLimit(MAX_FAILED_SIGN_INS);
  app.get(ERROR_PAGE, (context) => answerMarkup(context, <ErrorsPage />, 200));
  app.get(STATUS_PAGE, (context) => answerStatus(context, options.modelStatus?.counts ?? null));
  app.get("/sign-in", (context) => showForm(context, options, null, 200));
  app.post("/sign-in", async (context) => {
    try {
      return await signIn(context, options, sessions, limit);
    } catch (thrown) {
      const error = convertError(thrown, false);
      for (const [name, value] of Object.entries(error.headers)) context.header(name, value);
      return showForm(context, options, error.message, error.status);
    }
  });
  app.post("/sign-out", async (context) => {
    let ended: EndedSession | null = null;
    try {
      ended = await signOut(context, sessions);
    } catch (thrown) {
      return answerStillSignedIn(context, convertError(thrown, true));
    }
    SESSION.clear(context);
    const elsewhere = ended === null ? null : await findSignOutUrl(ended, options, context.get("requestId"));
    if (elsewhere === null) return context.redirect("/sign-in", 303);
    return answerMarkup(context, <MovedPage title="Signed out" to={elsewhere} />, 200);
  });
}

interface EndedSession {
  readonly secret: string;
  /** Null: the session was started with a token. */
  readonly person: PersonHolder | null;
}

/** Without a session there is nothing to end, and the form may come from anyone. */
async function signOut(context: Context, sessions: Sessions): Promise<EndedSession | null> {
  const form = await readForm(context);
  const secret = SESSION.read(context);
  if (secret === null) return null;
  requireOwnPage(context);
  if (!isFormToken(form.text("form_token"), secret)) throw new AdminError("permission_denied");
  const person = await sessions.findPerson(secret);
  await sessions.end(secret);
  return { secret, person };
}

/** Returns where the provider ends its own session. Our session has ended in any case. */
async function findSignOutUrl(
  { secret, person }: EndedSession,
  { providers = NO_PROVIDERS, logger }: AdminAppOptions,
  requestId: string,
): Promise<string | null> {
  const provider = person === null ? null : providers.find(person.provider);
  if (provider === null || person === null) return null;
  const idToken = person.sealedIdToken === null ? null : unseal(person.sealedIdToken, secret);
  try {
    return await provider.createSignOutUrl(idToken, providers.signedOutUrl);
  } catch (thrown) {
    if (!(thrown instanceof OidcError)) throw thrown;
    logger.warn(
      { provider: provider.name, reason: thrown.message, request_id: requestId },
      "sign-out at identity provider failed",
    );
    return null;
  }
}

/** Keeps the cookie: without it the session could not be ended later. */
function answerStillSignedIn(context: Context, error: AdminError) {
  const message =
    error.code === "gateway_unavailable"
      ? "Redis is unreachable, so you may still be signed in. Go back and sign out again in a moment."
      : error.message;
  const markup = <ProblemPage page={null} title="Not signed out" message={message} requestId={null} />;
  return answerMarkup(context, markup, error.status);
}

async function signIn(
  context: Context,
  options: AdminAppOptions,
  sessions: Sessions,
  limit: MinuteLimit,
): Promise<Response> {
  requireOwnPage(context);
  if (options.takesTokens === false) throw refuseTokens();
  const form = await readForm(context);
  const visit = VISIT.read(context);
  if (visit === null || !isFormToken(form.text("form_token"), visit)) {
    const message = "This page was open for too long, or cookies are off. Try again.";
    throw new AdminError("permission_denied", { message });
  }
  const token = form.text("token");
  // Counted apart: mistyped API keys of users behind one proxy must not block sign-ins with a token.
  const address = looksLikeKey(token) ? `${addressOf(context)} key` : addressOf(context);
  const nowMs = options.nowMs();
  const wait = limit.waitSeconds(address, nowMs);
  if (wait > 0) {
    context.header("retry-after", String(wait));
    const message = `Too many sign-ins failed from your address. Try again in ${wait} seconds.`;
    return showForm(context, options, message, 429);
  }
  const former = SESSION.read(context);
  try {
    const begun = await sessions.begin(token);
    SESSION.write(context, begun.secret);
    if (former !== null) await sessions.end(former);
    const { store, logger } = options;
    if (begun.record.holder.type === "operator") {
      await recordOperatorStart({ store, logger, requestId: context.get("requestId") }, begun.record);
    }
  } catch (thrown) {
    if (thrown instanceof AdminError) limit.count(address, nowMs);
    throw thrown;
  }
  return context.redirect(ownPath(form.text("next")), 303);
}

function refuseTokens(): AdminError {
  const message =
    "Sign-in with a token is turned off here (`dashboard.token_sign_in`). Use one of the links.";
  return new AdminError("permission_denied", { message });
}

function showForm(context: Context, options: AdminAppOptions, problem: string | null, status: number) {
  context.header("referrer-policy", "same-origin");
  const known = VISIT.read(context);
  const visit = known ?? randomBytes(16).toString("base64url");
  if (known === null) VISIT.write(context, visit);
  const next = ownPath(context.req.query("next") ?? START_PAGE);
  const { providers = NO_PROVIDERS, takesTokens = true } = options;
  const markup = (
    <SignInPage
      formToken={createFormToken(visit)}
      next={next}
      problem={problem}
      providers={providers.all.map(({ name }) => name)}
      takesTokens={takesTokens}
    />
  );
  return answerMarkup(context, markup, status);
}

/** Returns a path of this server for any input. */
export function ownPath(path: string): string {
  const base = "http://localhost";
  if (!path.startsWith("/") || !URL.canParse(path, base)) return START_PAGE;
  const url = new URL(path, base);
  const own = `${url.pathname}${url.search}`;
  // "/.//evil.example" is a path of this server, but resolved by itself it names another server.
  return url.origin === base && new URL(own, base).origin === base ? own : START_PAGE;
}
