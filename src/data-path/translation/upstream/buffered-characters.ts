import { GatewayError } from "../../../shared/contract/errors.ts";

/** Buffer limit of one stream; only a malfunctioning upstream exceeds it. */
const MAX_BUFFERED_CHARACTERS = 4 * 1_048_576;

/** Memory of a piece besides its text, so that many tiny pieces are bounded as well. */
const PIECE_OVERHEAD_CHARACTERS = 64;

/** Counts the characters that one stream buffers to follow the order of the client's protocol. */
export class BufferedCharacters {
  #count = 0;

  /** @throws GatewayError `upstream_error` if the limit is exceeded. */
  buffer(characters: number): void {
    this.#count += characters;
    if (this.#count <= MAX_BUFFERED_CHARACTERS) return;
    const cause = new Error(`more than ${MAX_BUFFERED_CHARACTERS} characters would have to be buffered`);
    throw new GatewayError("upstream_error", { cause });
  }

  release(characters: number): void {
    this.#count -= characters;
  }

  /** Counts a piece that is stored separately. @throws GatewayError `upstream_error` if the limit is exceeded. */
  bufferPiece(characters: number): void {
    this.buffer(characters + PIECE_OVERHEAD_CHARACTERS);
  }

  releasePiece(characters: number): void {
    this.release(characters + PIECE_OVERHEAD_CHARACTERS);
  }
}
