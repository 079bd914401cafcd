/**
 * Removes names of the gateway's own account (its organization, project, keys) from an upstream's error, because
 * callers read it. Errors that are only about the account are replaced as a whole, see account-error.ts.
 */
import { isJsonObject } from "../../../shared/text/json-object.ts";
import { shorten } from "../../../shared/text/shorten.ts";

const REMOVED = "[removed]";
/** Maximum characters of a text; the rest is cut off. */
const MAX_CHARACTERS = 2_000;

/** Things of an account that have names. */
const ACCOUNT_NOUN =
  /(?:teams?|organi[sz]ations?|orgs?|projects?|accounts?|workspaces?|tenants?|subscriptions?|resource groups?|(?:api|access|secret)[ _-]?keys?)/
    .source;
const LABEL =
  "(?:[ _-](?:ids?|name|number|slug|ending(?: in| with)?|ends (?:in|with)|named|called)(?![\\p{L}\\p{N}]))?";
const QUOTED = "'[^'\\n]{1,80}'|\"[^\"\\n]{1,80}\"|`[^`\\n]{1,80}`";
const WORD = "[\\p{L}\\p{N}][\\p{L}\\p{N}_.&+@*-]{0,80}(?<!\\.)";
/** A word that looks like a part of a name: it has a capital, digit, hyphen or underscore. */
const NAME_WORD = `(?=[\\p{Lu}]|[\\p{L}]{0,40}[\\p{N}_-])${WORD}`;

/** "Team: Acme One", "API key ID: x". */
const FIELD = new RegExp(
  `\\b(?:${ACCOUNT_NOUN}|(?:users?|keys?)[ _-](?:id|name))${LABEL}"?\\s{0,4}[:=]\\s{0,4}([^,;\\n]*?)(?=[,;\\n]|\\.\\s|\\.?$)[,;]?\\s*`,
  "giu",
);
/** "organization", "team ", "project (", before a name. */
const BEFORE_NAME = new RegExp(`\\b${ACCOUNT_NOUN}${LABEL}[ (#[]{1,2}`, "giu");
const NAME = new RegExp(`${QUOTED}|${WORD}(?: ${NAME_WORD}){0,4}`, "uy");
/** "Acme One's organization", "the acme-1 project", "for acme organization". */
const NAME_BEFORE = new RegExp(
  `(?:(${QUOTED}|(?<![\\p{L}\\p{N}_.&+@*-])${NAME_WORD}(?: ${NAME_WORD}){0,4}?)|(?<=\\b(?:for|of|by|in) )(${WORD}))(?:['’]s)? (?=${ACCOUNT_NOUN}(?![\\p{L}\\p{N}]))`,
  "gu",
);
/** "projects/acme-1/locations/…", "/subscriptions/…". */
const PATH =
  /\b(projects|organizations|folders|billingAccounts|subscriptions|resourceGroups|workspaces|accounts|teams)\/[^\s/"'`,;)\]}]+/gi;
/** Ids with a prefix, masked keys, UUIDs, ARNs, AWS account numbers, email addresses, resource hosts of Azure and others. */
const IDS = [
  /\b(?:team|org|proj|project|key|user|acct|account|workspace|wrkspc|tenant)[-_](?=[\w-]*\d)[\w-]{4,}/gi,
  /\b(?:sk|pk|rk|gsk|xai|hf|r8|pplx|nvapi|ghp)[-_][\w*.…-]*\w/gi,
  /\b(?:AIza|AKIA|ASIA|ya29\.|eyJ)[\w*.…-]{4,}/g,
  /(?<![\w-])[\w-]{0,64}\*{3,}[\w*-]*/g,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/gi,
  /\barn:aws[\w-]*:[^\s"'`,;)]+/gi,
  /\b\d{12}\b/g,
  /\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]*\w/g,
  /\b[\w-]{1,64}(?=\.(?:openai\.azure|cognitiveservices\.azure|services\.ai\.azure|azure-api|azuredatabricks|cloud\.databricks|snowflakecomputing)\.)/gi,
];

/** Words next to a thing that are no names. */
const ORDINARY = new Set(
  `a access add admin administrator administrators all allow allows already an and another any are as at aws azure
  balance be been being belongs billing blocked both but by can cannot change changed cloud context could credit credits
  current currently data deactivated default deleted developer did different disabled do does doesn each either enabled
  enterprise error every exceeded exceeds expected expired extra field file files for format found free from gets given
  google had has have if in inactive incorrect individual information input invalid is isn it key keys lacks length level
  limit limited limits list make malformed management may member members missing monthly more must my need needs new no
  none not of on only openai or other our out owner own page paid parent parameter per permission permissions plan plans
  please policies policy prepaid property provided quota quotas rate reached removed request requests required requires
  restricted role same scope selected sending service set setting settings should some specified spend standard string
  team
  structure suspended temporarily that the their then there these this those tier tiers to token tokens trial type types
  under unexpected unknown unsupported until upgrade usage use used user uses using valid value values verification
  verified via was were when where which who whose will with within without would wrong you your`.split(
    /\s+/,
  ),
);

/** Removes the names in each text of a value. */
export function redactAccount<Value>(value: Value): Value;
export function redactAccount(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map((part: unknown) => redactAccount(part));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redactAccount(member)]));
}

function redactText(text: string): string {
  const plain = shorten(text, MAX_CHARACTERS)
    .replace(FIELD, (field: string, value: string) => (isName(value) ? "" : field))
    .replace(PATH, `$1/${REMOVED}`);
  const withoutIds = IDS.reduce((rest, form) => rest.replace(form, REMOVED), plain);
  return removeNamesAfter(withoutIds)
    .replace(NAME_BEFORE, (found: string, name: string | undefined, bare: string | undefined) =>
      isName(name ?? bare ?? "") ? `${REMOVED} ` : found,
    )
    .trim();
}

/** Removes names that follow the word for their thing. */
function removeNamesAfter(text: string): string {
  let redacted = "";
  let end = 0;
  for (const { index, 0: noun } of text.matchAll(BEFORE_NAME)) {
    NAME.lastIndex = index + noun.length;
    const name = NAME.exec(text)?.[0] ?? "";
    if (index < end || !isName(name)) continue;
    redacted += text.slice(end, index) + noun + REMOVED;
    end = index + noun.length + name.length;
  }
  return redacted + text.slice(end);
}

/** Returns whether the text begins with a word that can be a name. */
function isName(text: string): boolean {
  const first = /[\p{L}\p{N}_-]+/u.exec(text)?.[0] ?? "removed";
  return first !== "removed" && !ORDINARY.has(first.toLowerCase());
}
