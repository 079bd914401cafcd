/** What a token opens: asked of the management API itself. */
import { isProgramToken } from "../../../shared/contract/program-sign-in.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { organizationPath } from "./find.ts";

export interface Access {
  /** Null: an organization's token of which nothing more can be told. */
  readonly role: "operator" | "admin" | "viewer" | "member" | null;
  /** How an organization's token is called. */
  readonly tokenName: string | null;
  /** Who has signed in with an identity provider; null: it is a token. */
  readonly personName: string | null;
  /** The only one that it opens; null for the operator, who has all. */
  readonly organization: JsonObject | null;
  /** How many it sees. */
  readonly organizations: number;
}

const ORGANIZATION_TOKEN = /^igw_org_/;

/** @throws CommandError when the token is not valid, or nothing answers. */
export async function readAccess(client: AdminClient, token: string): Promise<Access> {
  if (isProgramToken(token)) return readSignIn(client);
  const all = await client.list("/api/organizations");
  const [only] = all;
  if (!ORGANIZATION_TOKEN.test(token) || only === undefined) {
    return { role: "operator", ...NO_NAMES, organization: null, organizations: all.length };
  }
  const tokens = await client.list(`${organizationPath(only)}/tokens`);
  // `igw_org_…a1B2`: two that end alike are not told apart.
  const [own, ...others] = tokens.filter(({ display }) =>
    token.endsWith(String(display).split("…")[1] ?? token),
  );
  const isKnown = own !== undefined && others.length === 0;
  return {
    personName: null,
    role: isKnown && (own["role"] === "admin" || own["role"] === "viewer") ? own["role"] : null,
    tokenName: isKnown ? String(own["name"]) : null,
    organization: only,
    organizations: 1,
  };
}

const NO_NAMES = { tokenName: null, personName: null } as const;

async function readSignIn(client: AdminClient): Promise<Access> {
  const answer = await client.call("GET", "/api/whoami");
  const { role, name, organization } = answer as unknown as WhoAmI;
  const all = role === "operator" ? await client.list("/api/organizations") : [];
  const organizations = role === "operator" ? all.length : 1;
  return { role, tokenName: null, personName: name ?? "?", organization, organizations };
}

interface WhoAmI {
  readonly role: Exclude<Access["role"], null>;
  readonly name: string | null;
  readonly organization: JsonObject | null;
}

/** 'operator, 3 organizations', 'viewer of "Acme" by the token "report"'. */
export function describeAccess({ role, tokenName, personName, organization, organizations }: Access): string {
  const plural = organizations === 1 ? "" : "s";
  const person = personName === null ? "" : `, signed in as ${personName}`;
  if (organization === null) return `operator, ${organizations} organization${plural}${person}`;
  const by = tokenName === null ? person : ` by the token "${tokenName}"`;
  return `${role ?? "token"} of "${String(organization["name"])}"${by}`;
}
