/**
 * Why nobody was signed in. `away`: the provider could not be asked, or does not answer as one. `clock`: a token's times do
 * not fit this machine's clock. `refused`: anything else.
 */
export type OidcFailure = "away" | "clock" | "refused";

export class OidcError extends Error {
  override readonly name = "OidcError";
  readonly failure: OidcFailure;

  /** @param message For the log: without tokens, codes and secrets. */
  constructor(failure: OidcFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
