/** Limits of how many keys and tokens an organization may have; `MOST_OWNERS` has those of users and groups. */
export const MOST = { key: 200_000, token: 1_000 } as const;

/** Thrown if the organization has reached such a limit: nothing was changed. */
export class FullError extends Error {
  override readonly name = "FullError";
  readonly kind: keyof typeof MOST;

  constructor(kind: keyof typeof MOST) {
    super(`${MOST[kind]} ${kind}s in this organization`);
    this.kind = kind;
  }
}
