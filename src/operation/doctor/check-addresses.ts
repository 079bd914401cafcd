/** Checks of the gateway's own addresses for clients and people. */
import { isLoopback } from "../../shared/host/local-url.ts";
import type { Config } from "../../shared/config/schema.ts";
import { REMAINING_HEADER } from "../../shared/contract/header-names.ts";
import { type DoctorFinding, type FindingCode, found, ok, reasonOf, skipped } from "./finding.ts";

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 4 * 1024 ** 2;

interface Address {
  readonly check: string;
  readonly url: string;
  /** Path to request, and check of the response. */
  readonly path: string;
  readonly isOurs: (answer: Response, body: string) => boolean;
  readonly codes: Readonly<Record<"unencrypted" | "elsewhere" | "unreachable", FindingCode>>;
  readonly leadsTo: string;
}

/** Checks that `public_base_url` leads to the API: a call without a key gets the gateway's own error. */
export async function checkPublicUrl({ publicBaseUrl }: Config): Promise<DoctorFinding[]> {
  const check = "public_base_url";
  if (publicBaseUrl === null) return [skipped(check, "Not set; the snippets use the address in `listen`.")];
  return checkAddress({
    check,
    url: publicBaseUrl,
    path: "/v1/models",
    isOurs: ({ status, headers }) => status === 401 && headers.has(REMAINING_HEADER),
    codes: {
      unencrypted: "public_url_unencrypted",
      elsewhere: "public_url_elsewhere",
      unreachable: "public_url_unreachable",
    },
    leadsTo: "the API",
  });
}

/** Checks that `dashboard.base_url` leads to the admin server. */
export async function checkDashboardUrl({ dashboard, notifications }: Config): Promise<DoctorFinding[]> {
  const check = "dashboard.base_url";
  if (dashboard.baseUrl === null) {
    if (notifications.smtp === null) {
      return [skipped(check, "Not set, and no mail server needs it for links.")];
    }
    const message = "Emails are configured, but `dashboard.base_url` isn't set.";
    return [found("dashboard_url_missing", check, { message })];
  }
  return checkAddress({
    check,
    url: dashboard.baseUrl,
    path: "/api/openapi.json",
    isOurs: ({ status }, body) => status === 200 && body.includes('"Inference gateway: management API"'),
    codes: {
      unencrypted: "dashboard_url_unencrypted",
      elsewhere: "dashboard_url_elsewhere",
      unreachable: "dashboard_url_unreachable",
    },
    leadsTo: "the dashboard",
  });
}

async function checkAddress(address: Address): Promise<DoctorFinding[]> {
  const { check, url, path, codes, leadsTo } = address;
  if (url.startsWith("http:") && !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ""))) {
    return [found(codes.unencrypted, check, { message: `${url} isn't encrypted.` })];
  }
  try {
    const answer = await fetch(`${url}${path}`, {
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (address.isOurs(answer, await readBounded(answer))) return [ok(check, `${url} leads to ${leadsTo}.`)];
    const message = `${url}${path} returned ${answer.status}, which isn't the response of ${leadsTo}.`;
    return [found(codes.elsewhere, check, { message })];
  } catch (error) {
    const reason =
      error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : reasonOf(error);
    return [found(codes.unreachable, check, { message: `${url} can't be reached: ${reason}.` })];
  }
}

/** Reads the start of the body, since any server may respond. */
async function readBounded(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}
