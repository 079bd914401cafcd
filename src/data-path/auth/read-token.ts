/**
 * Reads the verified token of an identity provider. Envoy verifies tokens; this file only reads its result,
 * and rejects everything that looks like a token and was not verified, whatever the reason.
 */
import { GatewayError } from "../../shared/contract/errors.ts";
import { isWellFormedKey } from "./key-format.ts";
import { invalidKey } from "./read-key.ts";

/** Envoy's result for a request's token. Clients cannot forge it. */
export interface TokenVerdict {
  readonly verified: readonly VerifiedToken[];
  /** Why each tried provider rejected it. */
  readonly failed: readonly TokenFailure[];
}

/** Valid token of this provider. */
export interface VerifiedToken {
  readonly provider: string;
  /** Signed payload. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** True if its header names extensions that a recipient must understand (`crit`): Envoy supports none. */
  readonly isCritical: boolean;
}

/** Envoy's number and message. */
interface TokenFailure {
  readonly code: number | null;
  readonly text: string;
}

/** Expected issuer and audiences, by provider. */
export type TokenIssuers = ReadonlyMap<
  string,
  { readonly issuer: string; readonly audiences: readonly string[] }
>;

/** Start of a JSON object in base64url, after any scheme. */
const TOKEN = /(?:^|[\s,])eyJ/;
const HEADERS = ["authorization", "x-api-key"] as const;
/** Envoy's status for a token of another issuer, which another provider may accept. */
const OTHER_ISSUER = 24;
const KEYS_UNREACHABLE = 40;

const TWO = "Two credentials were sent, in `authorization` and in `x-api-key`. Send one.";
const UNVERIFIED =
  "The token was not verified. Send it as `Authorization: Bearer <TOKEN>` or as `x-api-key: <TOKEN>`, once, and not " +
  "longer than 16 KiB.";
const CRITICAL =
  "The token's header has `crit`, which this gateway doesn't support. Get a token without `crit` from your identity provider.";
const REASONS: ReadonlyMap<number, string> = new Map([
  [2, "The token is not valid yet (`nbf`). Check the clock of its identity provider."],
  [3, "The token has expired (`exp`). Get a new one from your identity provider."],
  [
    OTHER_ISSUER,
    "This gateway doesn't accept tokens of this issuer (`iss`). Get one from another identity provider, or contact the operator.",
  ],
  [
    25,
    "The token's audience (`aud`) isn't this gateway. Ask your identity provider for a token for this gateway.",
  ],
  [
    26,
    "The token's signature is invalid, or the token has no `exp`. Get a new one from your identity provider and send all of it.",
  ],
  [
    32,
    "The token is signed with a key that its issuer does not publish (`kid`, `alg`). Get a new one from your identity provider.",
  ],
]);
const MALFORMED =
  "The token is not a well-formed JWT: it must be signed, with `alg`, `iss`, `aud` and `exp`. Get a new one from your identity provider.";

/**
 * Returns the only valid token of a request. Null: no token, but perhaps a key.
 * @throws GatewayError `invalid_api_key` for a token that is invalid, or is not the only credential;
 * `gateway_unavailable` if the keys of its issuer cannot be fetched.
 */
export function readToken(
  headers: Readonly<Record<string, string | undefined>>,
  verdict: TokenVerdict | null,
  issuers: TokenIssuers,
): VerifiedToken | null {
  const given = HEADERS.map((name) => headers[name] ?? "");
  const hasKey = given.some((text) => isWellFormedKey(text.trim().replace(/^bearer +/i, "")));
  const [token] = verdict?.verified ?? [];
  // Envoy has removed the header that it verified: any remaining token is another one.
  const hasOther = given.some((text) => TOKEN.test(text));
  if (token === undefined) {
    if (!hasOther) return null;
    throw hasKey ? invalidKey(TWO) : explain(verdict?.failed ?? []);
  }
  if (hasKey || hasOther) throw invalidKey(TWO);
  requireProvider(token, issuers);
  return token;
}

/** Repeats Envoy's checks, since its configuration may be the operator's. */
function requireProvider({ provider, claims, isCritical }: VerifiedToken, issuers: TokenIssuers): void {
  if (isCritical) throw invalidKey(CRITICAL);
  const known = issuers.get(provider);
  if (known === undefined) throw invalidKey(UNVERIFIED);
  const { iss, aud, exp } = claims;
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (iss !== known.issuer) throw invalidKey(REASONS.get(OTHER_ISSUER));
  if (!known.audiences.some((audience) => audiences.includes(audience))) throw invalidKey(REASONS.get(25));
  if (typeof exp !== "number") throw invalidKey(MALFORMED);
}

function explain(failures: readonly TokenFailure[]): GatewayError {
  const failure = failures.find(({ code }) => code !== OTHER_ISSUER) ?? failures[0];
  if (failure === undefined) return invalidKey(UNVERIFIED);
  if (failure.code === KEYS_UNREACHABLE || failure.text.startsWith("Jwks remote fetch")) {
    return new GatewayError("gateway_unavailable", {
      message:
        "The keys of the token's identity provider can't be read at the moment. Try again in a moment.",
    });
  }
  return invalidKey(REASONS.get(failure.code ?? 0) ?? MALFORMED);
}
