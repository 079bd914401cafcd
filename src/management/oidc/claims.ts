/** Claims of a provider about a person. */
import { isJsonObject, type JsonObject } from "../../shared/text/json-object.ts";
import { cleanText } from "../../shared/text/plain-text.ts";
import { OidcError } from "./oidc-error.ts";

/** OpenID Connect Core 1.0, section 2: at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
const MAX_NAME_CHARACTERS = 100;
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;
/** More than any provider puts into a token; each session stores them. */
const MAX_GROUPS = 1_000;
const MAX_GROUP_CHARACTERS = 256;
const MAIL_ADDRESS = /^[^<>@\s]{1,128}@[^<>@\s]{1,125}$/;

/** @throws OidcError */
export function readSubject(claims: JsonObject): string {
  const subject = claims["sub"];
  if (typeof subject === "string" && SUBJECT.test(subject)) return subject;
  throw new OidcError("refused", "`sub` isn't a text of 1 to 255 ASCII characters");
}

/** Returns a one-line name for people; the subject if the provider sends none. */
export function readName(claims: JsonObject, subject: string): string {
  const texts = [claims["name"], claims["preferred_username"], claims["email"], subject];
  const named = texts.find((text) => typeof text === "string" && VISIBLE.test(text));
  const characters = Array.from(
    cleanText(String(named))
      .replace(/\p{Cs}/gu, "\ufffd")
      .trim(),
  );
  return characters.slice(0, MAX_NAME_CHARACTERS).join("");
}

/** Returns null if the provider sends no email, or reports it as unverified. */
export function readEmail(claims: JsonObject): string | null {
  const { email, email_verified: isVerified } = claims;
  return typeof email === "string" && MAIL_ADDRESS.test(email) && isVerified !== false ? email : null;
}

/**
 * Returns a person's groups from a claim: a text, or the texts in a list. Null: the claim is missing.
 * @param claim Its name; one with dots is first looked up literally, then as a path.
 * @throws OidcError for more than a session stores, since the first matching role would be unknown.
 */
export function readGroups(claims: JsonObject, claim: string): readonly string[] | null {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : valueAt(claims, claim.split("."));
  if (value === undefined || value === null) return null;
  const groups = (Array.isArray(value) ? value : [value]).filter((group) => typeof group === "string");
  if (groups.length > MAX_GROUPS || groups.some((group) => group.length > MAX_GROUP_CHARACTERS)) {
    const bounds = `${MAX_GROUPS} groups, or one of more than ${MAX_GROUP_CHARACTERS} characters`;
    throw new OidcError(
      "refused",
      `\`${claim}\` has more than ${bounds}. Configure the identity provider to send fewer`,
    );
  }
  return groups;
}

function valueAt(claims: JsonObject, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const step of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}
