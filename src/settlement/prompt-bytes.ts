import type { ClientRequest } from "../translation/client-protocol.ts";

/** Smaller bodies hold no image worth a look; measuring is not for free. */
const MEASURE_FROM_BYTES = 8_192;
/** What images and files of a request are estimated at, together: a photo takes some hundred to some thousand tokens. */
const MEDIA_TOKENS = 1_000;

export interface PromptBytes {
  /** Bytes that tokens can be estimated from. */
  readonly bytes: number;
  /** Tokens of what cannot be estimated by bytes; 0 without images and files. */
  readonly mediaTokens: number;
}

/** The bytes of a request that are text: a picture's base64 is worth far fewer tokens than its length says. */
export function measurePromptBytes(
  request: Pick<ClientRequest, "promptSize">,
  bodyBytes: number,
): PromptBytes {
  if (bodyBytes < MEASURE_FROM_BYTES) return { bytes: bodyBytes, mediaTokens: 0 };
  const { hasMedia, textBytes } = request.promptSize();
  return hasMedia ? { bytes: textBytes, mediaTokens: MEDIA_TOKENS } : { bytes: bodyBytes, mediaTokens: 0 };
}
