/** Checks that identity providers' keys can be fetched as Envoy does. */
import { readFileSync } from "node:fs";
import { request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import type { Config, JwtProviderConfig } from "../../shared/config/schema.ts";
import { isJsonObject } from "../../shared/text/json-object.ts";
import { type DoctorFinding, found, ok, reasonOf } from "./finding.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;

export async function checkTokenKeys({ jwt }: Pick<Config, "jwt">): Promise<DoctorFinding[]> {
  return Promise.all(jwt.providers.map(checkProvider));
}

async function checkProvider({ name, jwks }: JwtProviderConfig): Promise<DoctorFinding> {
  const check = `jwt.${name}`;
  const where = jwks.url ?? jwks.file ?? "";
  try {
    const text = jwks.url === null ? readFileSync(where, "utf8") : await fetchKeys(jwks.url, jwks);
    return ok(check, `The keys of ${name} can be read: ${countKeys(text)} at ${where}.`);
  } catch (error) {
    return found("token_keys_unreachable", check, {
      message: `The keys of ${name} can't be read at ${where}: ${reasonOf(error)}`,
    });
  }
}

/** @throws Error if it is not a key set, or an empty one. */
function countKeys(text: string): number {
  const parsed: unknown = JSON.parse(text);
  const keys = isJsonObject(parsed) ? parsed["keys"] : undefined;
  if (!Array.isArray(keys)) throw new Error("the file is no set of keys (JWKS)");
  if (keys.length === 0) throw new Error("the set of keys is empty");
  return keys.length;
}

function fetchKeys(url: string, { caFile, tokenFile }: JwtProviderConfig["jwks"]): Promise<string> {
  const ca = caFile === null ? {} : { ca: readFileSync(caFile, "utf8") };
  const headers =
    tokenFile === null ? {} : { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
  const send = url.startsWith("https:") ? requestTls : requestPlain;
  return new Promise((resolve, reject) => {
    const request = send(url, { ...ca, headers, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) request.destroy(new Error("the file is larger than 1 MiB"));
        else chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString());
        else reject(new Error(`the response is ${response.statusCode ?? "empty"}`));
      });
    });
    request.on("error", reject);
    request.end();
  });
}
