/**
 * Dashboard: pages for people, built on the calls of the management API. It checks who is signed in and that
 * a form was sent from its own page; the API checks rights and values. It must never put a token into a page
 * or a URL, and never show an organization to a token of another. Without Redis nobody can sign in and every
 * page shows a 503; sessions continue afterwards, and a sent form can be sent again.
 */
import type { Context } from "hono";
import { AdminError } from "../admin-error.ts";
import { type AdminApp, type AdminAppOptions, formatGatewayUrl } from "../app-options.ts";
import { requireAccess } from "../api/run-route.ts";
import { convertError } from "../convert-error.ts";
import { type Journal, recordEnd, recordProgramStart } from "../identity/record-sign-in.ts";
import { isOnlyOwn, type Principal } from "../principal.ts";
import {
  answerMarkup,
  type OrganizationPageCall,
  type PageAnswer,
  type PageCall,
  type PageRoute,
} from "./page.ts";
import { addAssets } from "./assets.ts";
import { createCallApi } from "./call-api.ts";
import { SESSION } from "./cookies.ts";
import { FormValues } from "./form.ts";
import { PAGE_ROUTES } from "./page-routes.ts";
import { ProblemPage } from "./pages/problem.tsx";
import { findPagePath, readForm, requireOwnPage } from "./own-page.ts";
import { addOidcSignIn } from "./oidc-sign-in.tsx";
import { createFormToken, isFormToken, type OnEnded, type Sessions } from "./session.ts";
import { addSignIn } from "./sign-in.tsx";
import type { OrganizationView } from "./views.ts";

type PageContext = Context<{ Variables: { requestId: string; principal: Principal } }>;

/** Adds the pages to the admin server's HTTP. */
export function addDashboard(app: AdminApp, options: AdminAppOptions, sessions: Sessions): void {
  addAssets(app);
  addSignIn(app, options, sessions);
  addOidcSignIn(app, options, sessions);
  for (const route of PAGE_ROUTES) {
    app.on(route.method, route.path, (context) => answerPage(context, route, options, sessions));
  }
  app.get("*", async (context, next) => {
    const wantsPage = (context.req.header("accept") ?? "").includes("text/html");
    if (!wantsPage || context.req.path.startsWith("/api/")) return next();
    if (SESSION.read(context) !== null) return answerPage(context, NO_PAGE, options, sessions);
    return answerProblem(context, { page: null, unsent: null }, unknownPage());
  });
}

/** Page for unknown paths of signed-in users: with the navigation. */
const NO_PAGE: PageRoute = {
  method: "GET",
  path: "*",
  member: true,
  key: true,
  run: () => Promise.reject(unknownPage()),
};

function unknownPage(): AdminError {
  return new AdminError("unknown_endpoint", { message: "Unknown page." });
}

async function answerPage(
  context: PageContext,
  route: PageRoute,
  options: AdminAppOptions,
  sessions: Sessions,
): Promise<Response> {
  // Without this a form's `Origin` is "null"; no referrer goes to other sites either way.
  context.header("referrer-policy", "same-origin");
  let page: PageCall | null = null;
  let unsent: FormValues | null = null;
  try {
    const form = route.method === "POST" ? await readForm(context) : new FormValues("");
    if (route.method === "POST") {
      requireOwnPage(context);
      unsent = form;
    }
    const secret = SESSION.read(context);
    const journal = { store: options.store, logger: options.logger, requestId: context.get("requestId") };
    const onEnded: OnEnded = (holder, reason) => recordEnd(journal, holder, reason);
    const principal = secret === null ? null : await sessions.find(secret, onEnded);
    if (secret === null || principal === null) return redirectToSignIn(context);
    if (route.method === "POST" && !isFormToken(form.text("form_token"), secret)) throw foreignForm();
    const bare = await createPage(context, options, { secret, principal, form, sessions });
    page = bare;
    // Checked before reading anything: an organization's settings are not for its members.
    if (isOnlyOwn(principal)) {
      const own = findOwnPage(context, principal);
      if (own !== null) return context.redirect(own, 303);
      requireAccess(route, principal);
    }
    const organization = await readOrganization(bare);
    const unreadAlerts = await countUnread(bare, organization);
    page = { ...bare, organization, canChange: bare.canChange && !isDeleted(organization), unreadAlerts };
    unsent = null;
    // Checked before reading the form: an unauthorized caller gets that error, not validation errors.
    requireAccess(route, principal);
    return formatAnswer(context, await run(route, page, options));
  } catch (thrown) {
    const error = convertError(thrown, route.method === "POST" && unsent === null);
    if (error.status >= 500) {
      const fields = {
        err: error.cause ?? error,
        request_id: context.get("requestId"),
        path: context.req.path,
      };
      options.logger.error(fields, "page failed");
    }
    return answerProblem(context, { page, unsent }, error);
  }
}

function run(route: PageRoute, page: PageCall, options: AdminAppOptions): Promise<PageAnswer> {
  if ("run" in route) return route.run(page);
  const { organization } = page;
  if (organization === null) throw new TypeError(`${route.path} names no organization`);
  const { id } = organization;
  const read: OrganizationPageCall["read"] = (of, wanted) => of(options, id, wanted);
  return route.runInOrganization({ ...page, organization, base: `/organizations/${id}`, read });
}

async function createPage(
  context: PageContext,
  options: AdminAppOptions,
  given: { secret: string; principal: Principal; form: FormValues; sessions: Sessions },
): Promise<PageCall> {
  const { secret, principal, form, sessions } = given;
  const requestId = context.get("requestId");
  const params = context.req.param();
  return {
    principal,
    isOperator: principal.type === "operator",
    canChange: principal.type === "operator" || principal.role === "admin",
    options: {
      ...options,
      listModels: (of) => options.catalog().listFor(of),
      openExport: (organizationId) => options.reports.openExport(organizationId),
    },
    api: createCallApi({ principal, requestId, params }, options),
    params,
    query: new URL(context.req.url).searchParams,
    path: context.req.path,
    formToken: createFormToken(secret),
    form,
    requestId,
    beginProgram: (challenge) => beginProgram(sessions, { secret, challenge }, { ...options, requestId }),
    nowMs: await options.store.timeMs(),
    gatewayUrl: formatGatewayUrl(options, context.req.url),
    organization: null,
    unreadAlerts: 0,
  };
}

async function beginProgram(
  sessions: Sessions,
  { secret, challenge }: { readonly secret: string; readonly challenge: string },
  journal: Journal,
): Promise<string | null> {
  const begun = await sessions.beginProgram(secret, challenge);
  if (begun === null) return null;
  await recordProgramStart(journal, begun.holder);
  return begun.code;
}

/** Reads the organization; for members only with the fields of `…/me`. */
async function readOrganization(page: PageCall): Promise<OrganizationView | null> {
  if (page.params["organization"] === undefined || isOnlyOwn(page.principal)) return null;
  const { body } = await page.api("GET /api/organizations/{organization}");
  return body;
}

/** Pages where admins change a limit or look at a request: links of errors and emails lead there. */
const ADMIN_PAGE =
  /^\/organizations\/([^/]+)\/(?:settings|(?:keys|users|groups)\/[^/]+_[^/]+|requests\/([^/]+))$/;

/** Returns the page that shows the same to someone who sees only what is their own; null: another page. */
function findOwnPage(context: PageContext, principal: Principal): string | null {
  const [, organizationId, requestId] = ADMIN_PAGE.exec(context.req.path) ?? [];
  if (context.req.method !== "GET" || principal.type === "operator") return null;
  if (organizationId !== principal.organizationId) return null;
  const own = `/organizations/${organizationId}/me`;
  return requestId === undefined ? `${own}#limits` : `${own}/requests/${requestId}`;
}

function isDeleted(organization: OrganizationView | null): boolean {
  return (organization?.deleted_at ?? null) !== null;
}

async function countUnread(page: PageCall, organization: OrganizationView | null): Promise<number> {
  if (organization?.notifications.dashboard !== true || isDeleted(organization)) return 0;
  const { body } = await page.api("GET /api/organizations/{organization}/alerts", { query: { limit: "1" } });
  return body.unread;
}

function formatAnswer(context: PageContext, answer: PageAnswer): Response | Promise<Response> {
  if ("redirect" in answer) return context.redirect(answer.redirect, 303);
  if ("text" in answer) return context.body(answer.text, 200, answer.headers);
  return answerMarkup(context, answer.markup, answer.status);
}

interface Attempt {
  readonly page: PageCall | null;
  /** Form that was not processed yet. */
  readonly unsent: FormValues | null;
}

function answerProblem(context: PageContext, { page, unsent }: Attempt, error: AdminError) {
  const title =
    error.status === 404 ? "Not found" : error.status === 403 ? "Not allowed" : "Something went wrong";
  const path = unsent === null ? findPagePath(context) : context.req.path;
  const isUnavailable = error.code === "gateway_unavailable";
  const markup = (
    <ProblemPage
      page={page}
      title={title}
      message={error.message}
      requestId={error.status >= 500 ? context.get("requestId") : null}
      again={isUnavailable ? { path, form: unsent } : null}
    />
  );
  for (const [name, value] of Object.entries(error.headers)) context.header(name, value);
  return answerMarkup(context, markup, error.status);
}

/** Redirects to the sign-in page and back; a sent form is lost, and its page opened instead. */
function redirectToSignIn(context: PageContext): Response {
  const next = findPagePath(context);
  return context.redirect(next === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`, 303);
}

function foreignForm(): AdminError {
  const message =
    "This form belongs to another session, so nothing was changed. Open the page again and send the form from there.";
  return new AdminError("permission_denied", { message });
}
