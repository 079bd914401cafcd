/** A bootstrap with one thing taken out, and where that must be found. */
export interface Mutation {
  readonly check: string;
  readonly name: string;
  /** Where to begin looking; the file's start when left out. */
  readonly after?: string;
  /** Replaced once; nothing else of the file is touched. */
  readonly find: string | RegExp;
  readonly write: string;
  /** What stands on the line that is named. */
  readonly line: string | RegExp;
}

/** The same words stand in several clusters: `after` says where to begin. */
export function mutate(text: string, mark: string, find: string | RegExp, write: string): string {
  const start = text.indexOf(mark);
  return text.slice(0, start) + text.slice(start).replace(find, write);
}
