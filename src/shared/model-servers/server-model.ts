/** Model as its server describes it. */
export interface ServerModel {
  readonly id: string;
  /** Tokens; null if unknown. */
  readonly contextWindow: number | null;
  /** Capabilities as in the catalog, as far as the server reports them; null: unknown. */
  readonly capabilities: readonly string[] | null;
}

/** Returns whether it is a plausible number of tokens. */
export function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 100_000_000;
}
