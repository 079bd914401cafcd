/** Checks the certificates that the API and the admin port show: readable, with their key, and not about to expire. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../../shared/config/schema.ts";
import { DAY_MS } from "../../shared/time/calendar.ts";
import { type DoctorFinding, found, ok, reasonOf } from "./finding.ts";

const RENEWED_BEFORE_MS = 14 * DAY_MS;

/** Empty without certificates. */
export async function checkCertificates({ listen, admin }: Config): Promise<DoctorFinding[]> {
  return Object.entries({ listen, admin }).flatMap(([section, { tls }]) =>
    tls === null ? [] : [checkPair(`${section}.tls`, tls)],
  );
}

function checkPair(
  check: string,
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string },
): DoctorFinding {
  const unusable = (message: string) => found("certificate_unusable", check, { message });
  try {
    const certificate = new X509Certificate(readFileSync(certFile));
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))) {
      return unusable(`\`${check}\`: ${keyFile} isn't the key of ${certFile}.`);
    }
    const remainingMs = Date.parse(certificate.validTo) - Date.now();
    const end = `the certificate in ${certFile} ${remainingMs < 0 ? "expired" : "expires"} on ${certificate.validTo}.`;
    if (remainingMs < 0) return unusable(`\`${check}\`: ${end}`);
    if (remainingMs < RENEWED_BEFORE_MS) {
      return found("certificate_expires", check, { message: `\`${check}\`: ${end}` });
    }
    return ok(check, `\`${check}\`: ${end}`);
  } catch (error) {
    return unusable(`\`${check}\` can't be read: ${reasonOf(error)}.`);
  }
}
