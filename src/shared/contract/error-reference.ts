/**
 * The error reference: every error of the gateway and of the management API names its entry there as `doc_url`. Its
 * address is the same for a whole process, which sets it when it starts.
 */

/** The dashboard's page of it, which everybody may read. */
export const ERROR_PAGE = "/errors";

let current = ERROR_PAGE;

/** Before the first error is sent. */
export function setErrorReference(url: string): void {
  current = url;
}

/** The entry of an error code. @param reference Of another process, for which an error is written. */
export function docUrlOf(code: string, reference = current): string {
  return `${reference}#${code}`;
}
