/** @jsxImportSource hono/jsx */
/** Sign in with a token, sign out. */
import { randomBytes } from "node:crypto";
import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context } from "hono";
import { AdminError } from "../admin-error.ts";
import type { AdminApp, AdminAppOptions } from "../app.ts";
import { convertError } from "../convert-error.ts";
import { authenticate } from "../principal.ts";
import { hashToken } from "../token-format.ts";
import { answerMarkup } from "./answer-markup.ts";
import { clearSession, readSession, readVisit, writeSession, writeVisit } from "./cookies.ts";
import { readForm, requireOwnPage } from "./own-page.ts";
import { SignInPage } from "./pages/sign-in.tsx";
import type { Sessions } from "./session.ts";
import { SignInLimit } from "./sign-in-limit.ts";

const START_PAGE = "/";

/** Adds the pages that need no session. */
export function addSignIn(app: AdminApp, options: AdminAppOptions, sessions: Sessions): void {
  const limit = new SignInLimit();
  app.get("/sign-in", (context) => showForm(context, sessions, null, 200));
  app.post("/sign-in", async (context) => {
    try {
      return await signIn(context, options, sessions, limit);
    } catch (thrown) {
      const error = convertError(thrown, false);
      return showForm(context, sessions, error.message, error.status);
    }
  });
  app.post("/sign-out", async (context) => {
    const session = readSession(context, sessions, options.nowMs());
    const form = await readForm(context);
    if (session !== null) {
      requireOwnPage(context);
      if (!sessions.isFormToken(form.text("form_token"), session.id)) {
        throw new AdminError("permission_denied");
      }
      sessions.end(session, options.nowMs());
    }
    clearSession(context);
    return context.redirect("/sign-in", 303);
  });
}

async function signIn(
  context: Context,
  options: AdminAppOptions,
  sessions: Sessions,
  limit: SignInLimit,
): Promise<Response> {
  requireOwnPage(context);
  const form = await readForm(context);
  const visit = readVisit(context);
  if (visit === null || !sessions.isFormToken(form.text("form_token"), visit)) {
    const message = "This page was open for too long, or cookies are off. Try again.";
    throw new AdminError("permission_denied", { message });
  }
  const address = addressOf(context);
  const nowMs = options.nowMs();
  const wait = limit.waitSeconds(address, nowMs);
  if (wait > 0) {
    context.header("retry-after", String(wait));
    const message = `Too many sign-ins have failed from here. Try again in ${wait} seconds.`;
    return showForm(context, sessions, message, 429);
  }
  const token = form.text("token");
  try {
    const principal = await authenticate(`Bearer ${token}`, options.operatorToken, options.store);
    const session = sessions.create(principal.type === "operator" ? null : hashToken(token), nowMs);
    writeSession(context, sessions.seal(session));
  } catch (thrown) {
    if (thrown instanceof AdminError) limit.failed(address, nowMs);
    throw thrown;
  }
  return context.redirect(ownPath(form.text("next")), 303);
}

function showForm(context: Context, sessions: Sessions, problem: string | null, status: number) {
  context.header("referrer-policy", "same-origin");
  const known = readVisit(context);
  const visit = known ?? randomBytes(16).toString("base64url");
  if (known === null) writeVisit(context, visit);
  const next = ownPath(context.req.query("next") ?? START_PAGE);
  const markup = <SignInPage formToken={sessions.formToken(visit)} next={next} problem={problem} />;
  return answerMarkup(context, markup, status);
}

/** A path of this server, whatever was asked for. */
function ownPath(path: string): string {
  const base = "http://localhost";
  if (!path.startsWith("/") || !URL.canParse(path, base)) return START_PAGE;
  const url = new URL(path, base);
  return url.origin === base ? `${url.pathname}${url.search}` : START_PAGE;
}

/** The other end of the connection; behind a proxy that is the proxy, and its users share the limit. */
function addressOf(context: Context): string {
  return getConnInfo(context).remote.address ?? "unknown";
}
