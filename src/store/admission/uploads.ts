/** Bodies that are on their way. */
import type { StoreContext } from "../context.ts";
import { uploadBytesKey, uploadsKey } from "../redis/keys.ts";
import { formatCount } from "../redis/parse-reply.ts";
import type { BegunUpload, Upload, UploadLimits } from "../types/admission.ts";

const ANSWERS: readonly unknown[] = ["begun", "key", "organization"] satisfies BegunUpload[];

/** @see AdmissionStore.beginUpload */
export async function beginUpload(
  { client }: StoreContext,
  upload: Upload,
  { keyBytes, organizationBytes, countsForMs }: UploadLimits,
): Promise<BegunUpload> {
  const reply = await client.igwBeginUpload({
    keyLimit: formatCount(keyBytes),
    organizationLimit: formatCount(organizationBytes),
    countsForMs: formatCount(countsForMs),
    ...inputOf(upload),
  });
  if (!isAnswer(reply)) throw new TypeError("begin-upload replied none of its answers");
  return reply;
}

/** @see AdmissionStore.endUpload */
export async function endUpload({ client }: StoreContext, upload: Upload): Promise<void> {
  await client.igwEndUpload(inputOf(upload));
}

function inputOf({ organizationId, keyId, requestId, bytes }: Upload) {
  return {
    uploads: uploadsKey(organizationId),
    bytesOnWay: uploadBytesKey(organizationId),
    requestId,
    keyId,
    bytes: formatCount(bytes),
  };
}

function isAnswer(reply: unknown): reply is BegunUpload {
  return ANSWERS.includes(reply);
}
