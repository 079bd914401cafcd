/** Kinds of owners of keys. */
export const OWNER_KINDS = ["user", "group"] as const;
export type OwnerKind = (typeof OWNER_KINDS)[number];

/** Number of users and groups that an organization may have. */
export const MAX_OWNERS = { user: 100_000, group: 1_000 } as const satisfies Record<OwnerKind, number>;
