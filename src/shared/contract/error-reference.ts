/**
 * Address of the error reference: every error of the gateway and of the management API links its entry as
 * `doc_url`. The address is the same for a whole process, which sets it at startup.
 */

/** Dashboard page of the error reference, which needs no sign-in. */
export const ERROR_PAGE = "/errors";

let current = ERROR_PAGE;

/** Sets the address; call before the first error is sent. */
export function setErrorReference(url: string): void {
  current = url;
}

/** Returns the address of an error code's entry. @param reference Address to use for another process. */
export function docUrlOf(code: string, reference = current): string {
  return `${reference}#${code}`;
}
