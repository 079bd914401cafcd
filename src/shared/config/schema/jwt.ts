/** `jwt`: callers with a token of an identity provider instead of an API key. */
import * as z from "zod";
import { isLoopback } from "../../host/local-url.ts";
import { choice, described, integer, list, mapping, ofType, orNull, path, section, text } from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { jwksUrl } from "./urls.ts";

const MAX_PROVIDERS = 20;
const MAX_SKEW_SECONDS = 300;

const NAME = text(
  "lower-case letters, digits and `-`, at most 32, a letter or digit first",
  /^[a-z0-9][a-z0-9-]{0,31}$/,
);
const claim = () => text("the name of a claim, or a path to it with dots");
const organizationId = () => text("an organization's id such as `org_…`", /^org_[0-9a-z-]{1,64}$/);

/** Mapping of arbitrary names to texts; becomes a list, since names of claims must stay as they are. */
function pairs<Value extends z.ZodType>(value: Value, expectation: string) {
  return z
    .record(z.string().min(1).max(1024), value, { error: `expected ${expectation}` })
    .default({})
    .transform((given) => Object.entries(given).map(([name, wanted]) => ({ name, wanted })));
}

function createKeysSchema(source: SecretSource) {
  return mapping({
    url: described(
      orNull(
        jwksUrl().refine((url) => url.startsWith("https:") || isLoopback(hostOf(url)), {
          error: "expected `https`: over `http` an attacker could sign in as any user",
        }),
      ),
      "URL of its keys (`jwks_uri`), which Envoy reads; either this or `file`.",
    ),
    file: described(orNull(path(source)), "File with the keys; Envoy reads it at its start."),
    refresh_minutes: integer(1, 1_440, "minutes").default(5).describe("Time between two reads of `url`."),
    ca_file: described(orNull(path(source)), "Authorities of the certificate at `url`.", {
      default: "the system's",
    }),
    token_file: described(orNull(path(source)), "Bearer token for `url`, which Envoy reads."),
  }).superRefine(({ url, file, ca_file, token_file }, context) => {
    const add = (message: string, ...where: string[]) =>
      context.addIssue({ code: "custom", message, path: where });
    if ((url === null) === (file === null)) {
      add(`has either \`url\` or \`file\`, found ${url === null ? "neither" : "both"}`);
    }
    if (url === null && ca_file !== null) add("only used with `url`", "ca_file");
    if (url === null && token_file !== null) add("only used with `url`", "token_file");
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
}

/** Returns the fields that assign claims. */
function createClaimFields() {
  return {
    subject_claim: claim()
      .default("sub")
      .describe("Claim that identifies the caller and is never reassigned, unlike an email address."),
    name_claim: described(orNull(claim()), "Claim with a new user's name or email address.", {
      default: "the subject",
    }),
    groups_claim: described(
      orNull(claim()),
      "Claim with the groups, a text or a list: `groups`, `realm_access.roles`.",
    ),
    bound_claims: described(
      pairs(text("a text"), "a mapping of claims to texts"),
      "Claims that a token must have, with this value or in a list; otherwise 403.",
      { type: "claim → text", default: "" },
    ),
  };
}

function createOrganizationFields() {
  return {
    organization: described(
      orNull(organizationId()),
      "Organization of all its users. Either this or `organization_claim`.",
    ),
    organization_claim: described(orNull(claim()), "Claim whose value is in `organizations`."),
    organizations: described(
      pairs(organizationId(), "a mapping of the claim's values to ids of organizations"),
      "Organization for each value; others return 403.",
      { type: "value → organization", default: "" },
    ),
  };
}

function createProviderSchema(source: SecretSource) {
  const rule = mapping({
    equals: text("a value of the groups' claim").describe("Value of `groups_claim`."),
    group: text("a group's id such as `group_…`", /^group_[0-9a-z-]{1,64}$/).describe(
      "Id of the group for requests with it.",
    ),
    priority: integer(0, 1_000).default(0).describe("Highest wins, among equal ones the first."),
  });
  return mapping({
    name: NAME.describe("Name in errors, metrics and key names (`jwt:corp`)."),
    issuer: text("an issuer such as `https://login.example.com`").describe(
      "`iss` of its tokens, exactly. Issuer and subject identify a caller.",
    ),
    audiences: described(
      list(ofType(text("an audience"), "text"), "audiences", 1),
      "Values of `aud`; a token must have one.",
      { type: "list of texts" },
    ),
    jwks: createKeysSchema(source),
    clock_skew_seconds: integer(1, MAX_SKEW_SECONDS, "seconds")
      .default(30)
      .describe("Tolerance for `exp` and `nbf`."),
    ...createClaimFields(),
    ...createOrganizationFields(),
    on_unknown: choice(["create", "reject"])
      .default("create")
      .describe("Whether an unknown caller becomes a user or gets 403."),
    groups: list(rule, "rules").default([]),
  }).superRefine((provider, context) => {
    const add = (message: string, ...where: string[]) =>
      context.addIssue({ code: "custom", message, path: where });
    if ((provider.organization === null) === (provider.organization_claim === null)) {
      const found = provider.organization === null ? "neither" : "both";
      add(`has either \`organization\` or \`organization_claim\`, found ${found}`);
    }
    if ((provider.organization_claim === null) !== (provider.organizations.length === 0)) {
      add("`organization_claim` and `organizations` are used together", "organizations");
    }
    if (provider.groups.length > 0 && provider.groups_claim === null) {
      add("required with `groups`: the claim that has them", "groups_claim");
    }
  });
}

/** `jwt`. */
export function createJwtSchema(source: SecretSource) {
  const providers = list(createProviderSchema(source), "providers")
    .max(MAX_PROVIDERS, { error: `expected at most ${MAX_PROVIDERS} providers` })
    .default([])
    .superRefine((given, context) => {
      for (const [index, { name }] of given.entries()) {
        if (given.findIndex((other) => other.name === name) === index) continue;
        context.addIssue({ code: "custom", message: `\`${name}\` occurs twice`, path: [index, "name"] });
      }
    });
  return section({ providers });
}
