import type { JSX } from "hono/jsx/jsx-runtime";
import type { Access } from "../api/route.ts";
import type { AdminAppOptions } from "../app-options.ts";
import type { Principal } from "../principal.ts";
import type { CallApi } from "./call-api.ts";
import { type FormValues, type Problems, splitProblems } from "./form.ts";
import { AdminError } from "../admin-error.ts";
import type { OrganizationView } from "./views.ts";
import type { Context } from "hono";

/** JSX that is ready to be sent, whole. */
export type Markup = JSX.Element;

/** One request for a page by somebody who is signed in: what a page may know. */
export interface PageCall {
  readonly principal: Principal;
  /** May change what the organization's administrators may. */
  readonly canChange: boolean;
  readonly isOperator: boolean;
  readonly options: AdminAppOptions;
  readonly api: CallApi;
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly path: string;
  /** Stands in every form of the page. */
  readonly formToken: string;
  /** Empty for GET. */
  readonly form: FormValues;
  readonly requestId: string;
  /**
   * Begins a session of the same person for a program. The code that the program needs beside its verifier; null: whoever
   * is signed in is so by a token.
   */
  readonly beginProgram: (challenge: string) => Promise<string | null>;
  /** Redis's clock. */
  readonly nowMs: number;
  /** Where clients send their requests, without a slash at the end and without `/v1`. */
  readonly gatewayUrl: string;
  /** Of the path, or null on pages without. */
  readonly organization: OrganizationView | null;
  /** How many alerts nobody has looked at. */
  readonly unreadAlerts: number;
}

/** The same below `/organizations/{organization}`. */
export interface OrganizationPageCall extends PageCall {
  readonly organization: OrganizationView;
  /** Of its pages: "/organizations/org_…". */
  readonly base: string;
}

type PageStatus = 200 | 201 | 400;

/** What a page answers. */
export type PageAnswer =
  | { readonly status: PageStatus; readonly markup: Markup }
  | { readonly redirect: string }
  | { readonly text: string | ReadableStream; readonly headers: Readonly<Record<string, string>> };

export function showPage(markup: Markup, status: PageStatus = 200): PageAnswer {
  return { status, markup };
}

/** A page with a form, as it is and again with what is wrong with it. */
export function showForm(markup: Markup, problems: Problems): PageAnswer {
  return showPage(markup, problems.size === 0 ? 200 : 400);
}

interface Submission {
  /** Makes the API's call, and answers with what comes of it. */
  readonly send: () => Promise<PageAnswer>;
  /** The form again, as it was sent, with what is wrong beside its fields. */
  readonly refused: (problems: Problems) => PageAnswer | Promise<PageAnswer>;
  /** Somebody else has changed it since it was read. Left out: the form carries no version. */
  readonly outdated?: () => PageAnswer | Promise<PageAnswer>;
}

/** Conflicts that are told beside the form: another value of a field ends them, or nothing that is done elsewhere. */
const ABOUT_THE_FORM: ReadonlySet<string> = new Set([
  "currency_locked",
  "organization_name_taken",
  "organization_full",
  "too_many_raises",
]);

/** What every form does: try, and show it again with what the API finds wrong. @throws what is no matter of the form */
export async function submit({ send, refused, outdated }: Submission): Promise<PageAnswer> {
  try {
    return await send();
  } catch (thrown) {
    if (!(thrown instanceof AdminError)) throw thrown;
    if (thrown.status === 400 || ABOUT_THE_FORM.has(thrown.code)) return refused(splitProblems(thrown));
    if (thrown.code === "version_conflict" && outdated !== undefined) return outdated();
    throw thrown;
  }
}

/** Where a page is, and what it does. */
export type PageRoute = {
  readonly method: "GET" | "POST";
  /** Who may, as in the table of API routes. */
  readonly access?: Access;
  /** Somebody with the role member may, too. Left out: a member may not. */
  readonly member?: true;
  /** As Hono writes paths: "/organizations/:organization/keys". */
  readonly path: string;
} & (
  | { readonly run: (page: PageCall) => Promise<PageAnswer> }
  | { readonly runInOrganization: (page: OrganizationPageCall) => Promise<PageAnswer> }
);

/** A page as HTML. */
export async function answerMarkup(context: Context, markup: Markup, status: number): Promise<Response> {
  const text = String(await markup);
  return context.html(`<!doctype html>${text}`, status as 200);
}
