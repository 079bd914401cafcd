/**
 * Reason of a failed sign-in. `away`: the provider is unreachable or does not respond as one. `clock`: a
 * token's times do not match this host's clock. `refused`: anything else.
 */
export type OidcFailure = "unreachable" | "clock" | "refused";

export class OidcError extends Error {
  override readonly name = "OidcError";
  readonly failure: OidcFailure;

  /** @param message For the log: without tokens, codes and secrets. */
  constructor(failure: OidcFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
