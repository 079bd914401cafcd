import { GatewayError } from "../../../shared/contract/errors.ts";

/** All that one stream may have buffered; more is no answer but a runaway. */
const MAX_BUFFERED_CHARACTERS = 4 * 1_048_576;

/** What a piece of its own takes besides its text, so that very many very small ones are bounded too. */
const PIECE_OVERHEAD_CHARACTERS = 64;

/** Counts what one stream has buffered for the order of the client's protocol. */
export class BufferedCharacters {
  #count = 0;

  /** @throws GatewayError `upstream_error` when it is too much. */
  buffer(characters: number): void {
    this.#count += characters;
    if (this.#count <= MAX_BUFFERED_CHARACTERS) return;
    const cause = new Error(`more than ${MAX_BUFFERED_CHARACTERS} characters would have to be buffered`);
    throw new GatewayError("upstream_error", { cause });
  }

  release(characters: number): void {
    this.#count -= characters;
  }

  /** The same for a piece that is kept by itself. @throws GatewayError `upstream_error` when it is too much. */
  bufferPiece(characters: number): void {
    this.buffer(characters + PIECE_OVERHEAD_CHARACTERS);
  }

  releasePiece(characters: number): void {
    this.release(characters + PIECE_OVERHEAD_CHARACTERS);
  }
}
