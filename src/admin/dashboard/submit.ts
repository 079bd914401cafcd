import { AdminError } from "../admin-error.ts";
import { type Problems, splitProblems } from "./form.ts";
import type { PageAnswer } from "./page.ts";

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
