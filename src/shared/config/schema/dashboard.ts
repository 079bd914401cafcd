import * as z from "zod";
import { isLoopback } from "../../host/local-url.ts";
import { choice, described, flag, list, mapping, ofType, orNull, secret, section, text } from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { publicUrl } from "./urls.ts";

const CONTACT = /^(?:[^<>@\s]+@[^<>@\s]+|https:\/\/[^<>"\s]+)$/;

/** `dashboard`: address of the pages, sign-in, and contact. */
export function createDashboardSchema(source: SecretSource) {
  return section({
    base_url: described(
      orNull(publicUrl()),
      "Base URL of the dashboard, for links in emails, webhooks and messages.",
      { default: "the address in `admin`" },
    ),
    contact: described(
      orNull(text("an email address or an `https` URL", CONTACT)),
      "Contact for users, on pages and in 402 messages.",
      { type: "email address or URL" },
    ),
    token_sign_in: flag()
      .default(true)
      .describe("Whether people can sign in with a token, not only by `dashboard.oidc`."),
    oidc: described(
      list(createOidcProviderSchema(source), "providers").default([]),
      "Identity providers that people [sign in](sign-in.md) with.",
    ),
  });
}

const PROVIDER_NAME = text(
  "lower-case letters, digits, `-` and `_`, at most 63, a letter or digit first",
  /^[a-z0-9][a-z0-9_-]{0,62}$/,
);
/** RFC 6749, appendix A.4: characters of a scope. */
const SCOPE = text("a scope without spaces", /^[\x21\x23-\x5b\x5d-\x7e]+$/);
const CLAIM = text("a claim's name, or a path such as `realm_access.roles`", /^\S+$/);
const ORGANIZATION = text("an organization's id, `org_…`", /^org_[0-9a-f-]{36}$/);
const ANY_EXPECTATION = "expected `true`, or no field";

function createOidcProviderSchema(source: SecretSource) {
  return mapping({
    name: PROVIDER_NAME.describe(
      "Name on the sign-in page and in the callback, `<base_url>/sign-in/oidc/<name>/callback`.",
    ),
    issuer: issuer().describe(
      "Issuer, as in its `/.well-known/openid-configuration`; `http` only on loopback.",
    ),
    client_id: text("the id of a client").describe("The gateway's client id at the provider."),
    client_secret: described(orNull(secret(source)), "Its secret.", { default: "none (public client)" }),
    scopes: described(
      list(SCOPE, "scopes", 1).default(["openid", "profile", "email"]),
      "Scopes, including `openid`.",
      { type: "list of scopes" },
    ),
    groups_claim: CLAIM.default("groups").describe(
      "Claim with the groups, of the ID token or user info; a name with dots can be a path.",
    ),
    roles: list(createRoleSchema(), "roles", 1).describe(
      "Roles of people. The first match decides; without a match, the sign-in is rejected.",
    ),
  });
}

function createRoleSchema() {
  return mapping({
    equals: described(
      orNull(text("the name of a group")),
      "Matches members of this group; either this or `any`.",
      {
        default: "",
      },
    ),
    any: described(
      orNull(ofType(z.literal(true, { error: ANY_EXPECTATION }), "`true`")),
      "Matches every person.",
      { default: "" },
    ),
    role: choice(["operator", "admin", "viewer", "member"]).describe(
      "`operator`: everything; `admin`: an organization; `viewer`: read it; `member`: own API keys and usage.",
    ),
    organization: described(orNull(ORGANIZATION), "Organization of every role except `operator`.", {
      type: "id",
      default: "",
    }),
  });
}

const ISSUER_EXPECTATION =
  "expected the provider's issuer, `https://host` with or without a path; `http` is only for loopback";

function issuer() {
  return ofType(
    z.string({ error: ISSUER_EXPECTATION }).max(1024, { error: ISSUER_EXPECTATION }),
    "URL",
  ).refine(isIssuer, { error: ISSUER_EXPECTATION });
}

function isIssuer(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(value);
  if (username !== "" || password !== "" || search !== "" || hash !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, "")));
}
