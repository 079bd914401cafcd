/** Owner of bytes in a worker's memory. */
export interface BodyOwner {
  readonly keyId: string;
  readonly keyName: string;
  readonly organizationId: string;
}
