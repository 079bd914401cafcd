/** Texts that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Like `JSON.stringify`, for JSON that is assembled on the request path: nearly all texts need no escaping. */
export function formatJsonText(text: string | null): string {
  if (text === null) return "null";
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
