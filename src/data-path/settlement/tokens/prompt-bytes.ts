import type { ClientRequest } from "../../translation/client-protocol.ts";

/** Smaller bodies hold no image worth a look; measuring is not for free. */
const MEASURE_FROM_BYTES = 8_192;
/** What an image or a file is estimated at: a photo takes some hundred to some thousand tokens. */
export const MEDIA_TOKENS = 1_000;

export interface PromptBytes {
  /** Bytes that tokens can be estimated from. */
  readonly bytes: number;
  /** Bytes that are tokens for certain (`PromptSize.visibleTextBytes`); 0 where they were not counted. */
  readonly visibleTextBytes: number;
  /** Tokens of what cannot be estimated by bytes: of one image, since how many there are is not counted; 0 without. */
  readonly mediaTokens: number;
}

/** The bytes of a request that are text: a picture's base64 is worth far fewer tokens than its length says. */
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
