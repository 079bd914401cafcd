/**
 * Bodies on their way. Envoy holds a body until all of it has come, and nobody here sees it before: so what a key, and an
 * organization, may have on its way is counted by what it declares, from its admission until ext_proc has the whole body or
 * the call is over. What is never heard of again (a client that goes away in mid-upload, a body that Envoy refuses) counts
 * until Envoy has certainly given it up.
 *
 * In Redis, since another worker may have the body. Small bodies are not counted, and cost nothing here: a key's rate
 * bounds them. While Redis is unreachable nothing is counted.
 */
import { GatewayError } from "../contract/errors.ts";
import { formatBytes } from "../text/format-bytes.ts";
import type { Admission } from "../limits/admission.ts";
import type { Logger } from "../host/logger.ts";
import type { AdmissionStore, Upload } from "../store/types/admission.ts";

export interface UploadsOptions {
  readonly store: Pick<AdmissionStore, "beginUpload" | "endUpload">;
  /** `limits.max_upload_bytes` */
  readonly maxUploadBytes: number;
  /** The most that Envoy takes of one body. */
  readonly maxRequestBytes: number;
  readonly isOutOfReach: () => boolean;
  readonly logger: Logger<"error">;
}

/** The head of a request. */
interface Head {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Smaller ones are not counted. */
const COUNTED_FROM_BYTES = 64 * 1024;
/** All keys of an organization together, in the share of one. */
const ORGANIZATION_SHARES = 2;
/** Envoy gives a request and its body a minute. */
const COUNTS_FOR_MS = 65_000;
/** Methods of the endpoints that take no body: they are answered by their head, and nothing of one is held. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** `content-length`; null: it is not said. */
export function declaredBytes({ headers }: Pick<Head, "headers">): number | null {
  const length = Number(headers["content-length"]);
  return Number.isSafeInteger(length) ? length : null;
}

export class Uploads {
  readonly #options: UploadsOptions;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /**
   * What a body counts for: one of unknown length for the most that it may have. Null: it is not counted.
   * @throws GatewayError 413 `request_too_large`: Envoy would refuse it, once so much of it has come.
   */
  bytesOf(head: Head): number | null {
    if (WITHOUT_BODY.has(head.method)) return null;
    const { maxRequestBytes } = this.#options;
    const declared = declaredBytes(head);
    if (declared === null) return maxRequestBytes;
    if (declared > maxRequestBytes) throw new GatewayError("request_too_large");
    return declared < COUNTED_FROM_BYTES ? null : declared;
  }

  /**
   * False: nothing was counted, since Redis is unreachable.
   * @throws GatewayError 429 `upload_limit_exceeded`
   */
  async begin(upload: Upload, keyName: string): Promise<boolean> {
    const { store, maxUploadBytes, isOutOfReach, logger } = this.#options;
    if (isOutOfReach()) return false;
    const organizationBytes = ORGANIZATION_SHARES * maxUploadBytes;
    const limits = { keyBytes: maxUploadBytes, organizationBytes, countsForMs: COUNTS_FOR_MS };
    const begun = await store.beginUpload(upload, limits).catch((error: unknown) => {
      logger.error({ request_id: upload.requestId, err: error }, "a body is sent without being counted");
      return null;
    });
    if (begun === null || begun === "begun") return begun !== null;
    const limit = begun === "key" ? maxUploadBytes : organizationBytes;
    const owner = begun === "key" ? `API key "${keyName}"` : "The organization of this API key";
    throw new GatewayError("upload_limit_exceeded", {
      message: `${owner} has reached its limit of ${formatBytes(limit)} of uploads in progress. Try again when one has finished.`,
    });
  }

  /** The body has come, or never will. May be repeated. */
  end({ organizationId, keyId, requestId, uploadBytes }: Admission): void {
    if (uploadBytes === null) return;
    const { store, logger } = this.#options;
    store
      .endUpload({ organizationId, keyId, requestId, bytes: uploadBytes })
      .catch((error: unknown) =>
        logger.error({ request_id: requestId, err: error }, "a body that has come counts for a minute more"),
      );
  }
}
