/** Whose bytes a worker holds. */
export interface BodyOwner {
  readonly keyId: string;
  readonly keyName: string;
  readonly organizationId: string;
}
