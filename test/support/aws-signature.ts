/**
 * AWS Signature Version 4 as the one who receives a request checks it, from AWS's documentation of the algorithm; the
 * tests that use it hold it against AWS's published vectors first.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import { createHash, createHmac } from "node:crypto";

export interface SignedRequest {
  readonly method: string;
  /** As it stands in the request line. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface Signature {
  readonly accessKeyId: string;
  /** "20150830/us-east-1/service/aws4_request". */
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

const FORM =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

/** What an `authorization` header says; null where it is no such signature. */
export function readSignature(authorization: string): Signature | null {
  const [, accessKeyId, scope, signedHeaders, signature] = FORM.exec(authorization) ?? [];
  if (accessKeyId === undefined || scope === undefined || signature === undefined) return null;
  return { accessKeyId, scope, signedHeaders: (signedHeaders ?? "").split(";"), signature };
}

/** The signature that this request must have, over its own body and the headers that were signed. */
export function computeSignature(
  request: SignedRequest,
  { scope, signedHeaders }: Pick<Signature, "scope" | "signedHeaders">,
  secretKey: string,
): string {
  const [path = "", query = ""] = request.path.split("?");
  const canonical = [
    request.method,
    encodePath(path),
    query.split("&").toSorted().join("&"),
    ...signedHeaders.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}`),
    "",
    signedHeaders.join(";"),
    sha256(request.body),
  ].join("\n");
  const time = String(request.headers["x-amz-date"]);
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = scope.split("/").reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secretKey}`);
  return hmac(key, text).toString("hex");
}

/** Each segment once more, as services other than S3 want it. */
function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
