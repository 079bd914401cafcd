/** How many of a kind an organization may have, next to `MOST_OWNERS`. */
export const MOST = { key: 200_000, token: 1_000 } as const;

/** The organization has as many as it may have: nothing was changed. */
export class FullError extends Error {
  override readonly name = "FullError";
  readonly kind: keyof typeof MOST;

  constructor(kind: keyof typeof MOST) {
    super(`${MOST[kind]} ${kind}s in this organization`);
    this.kind = kind;
  }
}
