/** The program itself, compiled or run from its sources. */
export function entryUrl(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "../main.ts" : "../main.js", import.meta.url);
}
