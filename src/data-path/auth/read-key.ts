/**
 * Reads the API key from the request's headers. Checks both headers; a value that is not a key is ignored if
 * the other header has one, because some SDKs always send a placeholder in one of them. The checksum rejects
 * mistyped and made-up keys before any look-up.
 */
import { ERRORS, GatewayError } from "../../shared/contract/errors.ts";
import { isWellFormedKey } from "./key-format.ts";

const BEARER = /^bearer(?: +(?<token>\S.*))?$/i;
/** RFC 9110, section 11.6.1: a 401 names the scheme. */
const CHALLENGE = { "www-authenticate": "Bearer" };
/** Stands for credentials other than Bearer; not a well-formed key. */
const NO_BEARER = "-";
const NO_SCHEME =
  "The `authorization` header has an API key without a scheme. Send it as `Authorization: Bearer <API_KEY>` or as " +
  "`x-api-key: <API_KEY>`.";

/**
 * Returns the only well-formed key in the headers. Header names are in lower case; values of a repeated
 * header are joined by a comma, which makes them invalid.
 * @param dashboardUrl Where keys are created; null: not configured.
 * @throws GatewayError `missing_api_key`, or `invalid_api_key` for no well-formed key or two different ones.
 */
export function readKey(
  headers: Readonly<Record<string, string | undefined>>,
  dashboardUrl: string | null = null,
): string {
  const given = [bearerToken(headers["authorization"]), headers["x-api-key"]?.trim()].filter(
    (value): value is string => value !== undefined && value !== "",
  );
  if (given.length === 0) throw missingKey(dashboardUrl);
  const [first, second] = given.filter(isWellFormedKey);
  if (first === undefined) {
    throw isBareKey(headers["authorization"]) ? invalidKey(NO_SCHEME) : unknownKey(dashboardUrl);
  }
  if (second !== undefined && second !== first) {
    throw invalidKey("Two different API keys were sent, in `authorization` and in `x-api-key`. Send one.");
  }
  return first;
}

function missingKey(dashboardUrl: string | null): GatewayError {
  const create = dashboardUrl === null ? "" : ` Create one on ${dashboardUrl}.`;
  const message = `${ERRORS.missing_api_key.message}${create}`;
  return new GatewayError("missing_api_key", { headers: CHALLENGE, message });
}

/** Creates the 401 for a key that does not exist. */
export function unknownKey(dashboardUrl: string | null): GatewayError {
  const { message } = ERRORS.invalid_api_key;
  return invalidKey(dashboardUrl === null ? message : message.replace("the API keys page", dashboardUrl));
}

export function invalidKey(message?: string): GatewayError {
  return new GatewayError("invalid_api_key", {
    headers: CHALLENGE,
    ...(message === undefined ? {} : { message }),
  });
}

/**
 * Returns the text after the scheme; nothing for just the scheme, which clients send if their key is not set.
 * Other credentials are returned unchanged, and are no key: `authorization` without a scheme is invalid HTTP
 * (RFC 9110, section 11.6.2).
 */
function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const trimmed = authorization.trim();
  const bearer = BEARER.exec(trimmed);
  if (bearer !== null) return bearer.groups?.["token"];
  return trimmed === "" ? undefined : NO_BEARER;
}

function isBareKey(authorization: string | undefined): boolean {
  return authorization !== undefined && isWellFormedKey(authorization.trim());
}
