import type { JSX } from "hono/jsx/jsx-runtime";
import type { Access, ApiServices } from "../api/route.ts";
import type { Catalog } from "../../../data-path/catalog/catalog.ts";
import type { AdminAppOptions } from "../app-options.ts";
import type { ReportTurns } from "../report-turns.ts";
import type { Principal } from "../principal.ts";
import type { CallApi } from "./call-api.ts";
import { type FormValues, type Problems, splitProblems } from "./form.ts";
import { AdminError } from "../admin-error.ts";
import type { OrganizationView } from "./views.ts";
import type { Context } from "hono";

/** JSX ready to be sent. */
export type Markup = JSX.Element;

/** Everything that pages read in addition to the API's calls: settings, models and open exports of this process. */
export interface PageOptions extends Pick<AdminAppOptions, "contact" | "email" | "examine"> {
  /** For keys whose holders may not read the whole catalog, and secrets that are shown once, whatever fails. */
  readonly listModels: Catalog["listFor"];
  readonly openExport: ReportTurns["openExport"];
}

/** Request for a page by a signed-in user. */
export interface PageCall {
  readonly principal: Principal;
  /** True if the user has the rights of an organization's administrator. */
  readonly canChange: boolean;
  readonly isOperator: boolean;
  readonly options: PageOptions;
  readonly api: CallApi;
  /** Parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly path: string;
  /** Token for every form of the page. */
  readonly formToken: string;
  /** Empty for GET. */
  readonly form: FormValues;
  readonly requestId: string;
  /**
   * Starts a session of the same person for a program. Returns the code that the program needs in addition to
   * its verifier; null if the user signed in with a token.
   */
  readonly beginProgram: (challenge: string) => Promise<string | null>;
  /** Redis's clock. */
  readonly nowMs: number;
  /** Address for clients' requests, without a final slash and `/v1`. */
  readonly gatewayUrl: string;
  /** Organization in the path; null on other pages. */
  readonly organization: OrganizationView | null;
  /** Number of unread alerts. */
  readonly unreadAlerts: number;
}

/** Same below `/organizations/{organization}`. */
export interface OrganizationPageCall extends PageCall {
  readonly organization: OrganizationView;
  /** Start of its pages' paths: "/organizations/org_…". */
  readonly base: string;
  /** Runs a function of the API that has no public call, for the organization, which a call has returned before. */
  readonly read: <Wanted, Read>(
    of: (services: ApiServices, organizationId: string, wanted: Wanted) => Promise<Read>,
    wanted: Wanted,
  ) => Promise<Read>;
}

type PageStatus = 200 | 201 | 400;

/** Response of a page. */
export type PageAnswer =
  | { readonly status: PageStatus; readonly markup: Markup }
  | { readonly redirect: string }
  | { readonly text: string | ReadableStream; readonly headers: Readonly<Record<string, string>> };

export function showPage(markup: Markup, status: PageStatus = 200): PageAnswer {
  return { status, markup };
}

/** Shows a page with a form, initially or with its problems. */
export function showForm(markup: Markup, problems: Problems): PageAnswer {
  return showPage(markup, problems.size === 0 ? 200 : 400);
}

interface Submission {
  /** Sends the API call, and returns the resulting page. */
  readonly send: () => Promise<PageAnswer>;
  /** Shows the form again as it was sent, with problems next to its fields. */
  readonly refused: (problems: Problems) => PageAnswer | Promise<PageAnswer>;
  /** Called if the record was changed since it was read. Omitted: the form has no version. */
  readonly outdated?: () => PageAnswer | Promise<PageAnswer>;
}

/** Conflicts that concern the form's fields, and are shown next to it. */
const ABOUT_THE_FORM: ReadonlySet<string> = new Set([
  "currency_locked",
  "organization_name_taken",
  "organization_full",
  "too_many_raises",
]);

/** Sends a form, and shows it again with the API's errors. @throws errors that do not concern the form */
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

/** Path and handler of a page. */
export type PageRoute = {
  readonly method: "GET" | "POST";
  /** Required access, as in the table of API routes. */
  readonly access?: Access;
  /** True if members may open it. Omitted: not for members. */
  readonly member?: true;
  /** True if the holder of an API key may open it as well. */
  readonly key?: true;
  /** Path in Hono's notation: "/organizations/:organization/keys". */
  readonly path: string;
} & (
  | { readonly run: (page: PageCall) => Promise<PageAnswer> }
  | { readonly runInOrganization: (page: OrganizationPageCall) => Promise<PageAnswer> }
);

/** Sends a page as HTML. */
export async function answerMarkup(context: Context, markup: Markup, status: number): Promise<Response> {
  const text = String(await markup);
  return context.html(`<!doctype html>${text}`, status as 200);
}
