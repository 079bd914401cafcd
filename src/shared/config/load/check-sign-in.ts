import { isLoopback } from "../../host/local-url.ts";
import type { FieldPath } from "../config-error.ts";
import type { CrossProblem } from "./check-names.ts";
import { itemsOf, textOf, valueAt } from "./raw-values.ts";

/** Checks the settings that signing in to the dashboard needs in addition to the providers. Works on the raw file. */
export function checkSignIn(file: unknown): CrossProblem[] {
  const providers = itemsOf(valueAt(file, "dashboard", "oidc"));
  const isTokenOff = valueAt(file, "dashboard", "token_sign_in") === false;
  if (providers.length > 0) return [...checkBaseUrl(file), ...providers.flatMap(checkProvider)];
  if (!isTokenOff) return [];
  const message = "`false` needs a provider in `dashboard.oidc`; otherwise no one could sign in";
  return [{ path: ["dashboard", "token_sign_in"], message }];
}

/** Checks the base URL: providers redirect to one registered address, which must not come from the browser. */
function checkBaseUrl(file: unknown): CrossProblem[] {
  const path = ["dashboard", "base_url"];
  const url = textOf(valueAt(file, ...path));
  if (url === null) {
    const message = "required with `dashboard.oidc`: providers send people back to an address below it";
    return [{ path, message }];
  }
  if (!URL.canParse(url)) return [];
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" || isLoopback(hostname.replace(/^\[|\]$/g, ""))) return [];
  const message = `expected \`https\` with \`dashboard.oidc\`, found ${JSON.stringify(url)}: \`http\` is only for loopback`;
  return [{ path, message }];
}

function checkProvider(provider: unknown, index: number, all: readonly unknown[]): CrossProblem[] {
  const path: FieldPath = ["dashboard", "oidc", index];
  const name = textOf(valueAt(provider, "name"));
  const first = all.findIndex((one) => valueAt(one, "name") === name);
  const problems: CrossProblem[] = [];
  if (name !== null && first !== index) {
    const message = `\`${name}\` is already the name of dashboard.oidc[${first}]`;
    problems.push({ path: [...path, "name"], message });
  }
  const scopes = valueAt(provider, "scopes");
  if (Array.isArray(scopes) && !scopes.includes("openid")) {
    problems.push({ path: [...path, "scopes"], message: "expected `openid` among the scopes" });
  }
  const roles = itemsOf(valueAt(provider, "roles"));
  return [...problems, ...roles.flatMap((role, place) => checkRole(role, [...path, "roles", place]))];
}

function checkRole(role: unknown, path: FieldPath): CrossProblem[] {
  const problems: CrossProblem[] = [];
  const hasEquals = valueAt(role, "equals") !== undefined;
  const hasAny = valueAt(role, "any") !== undefined;
  if (hasEquals === hasAny) {
    const found = hasAny ? "both" : "neither";
    problems.push({ path, message: `expected one of \`equals\` and \`any\`, found ${found}` });
  }
  const name = textOf(valueAt(role, "role"));
  const hasOrganization = valueAt(role, "organization") !== undefined;
  if (name === "operator" && hasOrganization) {
    const message = "not allowed with the role `operator`, which is for all organizations";
    problems.push({ path: [...path, "organization"], message });
  }
  if (name !== null && name !== "operator" && !hasOrganization) {
    const message = `required with the role \`${name}\`: the id of the organization, \`org_…\``;
    problems.push({ path: [...path, "organization"], message });
  }
  return problems;
}
