import type { ClientRequest } from "../../translation/client-protocol.ts";

/** Smaller bodies cannot contain a relevant image, and measuring takes time. */
const MEASURE_FROM_BYTES = 8_192;
/** Estimate for an image or a file: a photo takes a few hundred to a few thousand tokens. */
export const MEDIA_TOKENS = 1_000;

export interface PromptBytes {
  /** Bytes that tokens can be estimated from. */
  readonly bytes: number;
  /** Minimum number of tokens, in bytes of visible text (`PromptSize.visibleTextBytes`); 0 if not counted. */
  readonly visibleTextBytes: number;
  /** Tokens that bytes cannot predict: those of one image, since images are not counted; 0 without images. */
  readonly mediaTokens: number;
}

/** Measures the text bytes of a request: a picture's base64 has far fewer tokens than its length suggests. */
export function measurePromptBytes(
  request: Pick<ClientRequest, "promptSize">,
  bodyBytes: number,
): PromptBytes {
  if (bodyBytes < MEASURE_FROM_BYTES) return { bytes: bodyBytes, visibleTextBytes: 0, mediaTokens: 0 };
  const { hasMedia, textBytes, visibleTextBytes } = request.promptSize();
  return hasMedia
    ? { bytes: textBytes, visibleTextBytes, mediaTokens: MEDIA_TOKENS }
    : { bytes: bodyBytes, visibleTextBytes, mediaTokens: 0 };
}
