/** One model, as its server tells of it. */
export interface ServerModel {
  readonly id: string;
  /** Tokens; null where the server does not say. */
  readonly contextWindow: number | null;
  /** Of the catalog's, as far as the server tells them; null: it does not. */
  readonly capabilities: readonly string[] | null;
}

/** A number of tokens that a model may have. */
export function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 100_000_000;
}
