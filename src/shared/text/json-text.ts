/** What JSON writes as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** As `JSON.stringify`, for what is put together by hand on a request's path: nearly all texts are plain. */
export function formatJsonText(text: string | null): string {
  if (text === null) return "null";
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
