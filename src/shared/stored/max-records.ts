/** Limits of how many keys and tokens an organization may have; `MAX_OWNERS` has those of users and groups. */
export const MAX_RECORDS = { key: 200_000, token: 1_000 } as const;

/** Thrown if the organization has reached such a limit: nothing was changed. */
export class FullError extends Error {
  override readonly name = "FullError";
  readonly kind: keyof typeof MAX_RECORDS;

  constructor(kind: keyof typeof MAX_RECORDS) {
    super(`${MAX_RECORDS[kind]} ${kind}s in this organization`);
    this.kind = kind;
  }
}
