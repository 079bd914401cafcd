/**
 * Restrictions that an operator sets on a route in Envoy's configuration: `context_extensions` of ext_authz, comma
 * separated. Clients cannot set them.
 */
export interface RouteRestrictions {
  /** Ids; null allows every organization. */
  readonly organizations: readonly string[] | null;
  /** Ids of the catalog; null allows every model. */
  readonly models: readonly string[] | null;
}

const ORGANIZATIONS = "allowed_organizations";
const MODELS = "allowed_models";

/** Names in `context_extensions` that the gateway reads. */
export const RESTRICTION_NAMES: readonly string[] = [ORGANIZATIONS, MODELS];

/** Parses the restrictions. An empty value allows nothing, so that an empty template variable cannot open a route. */
export function parseRouteRestrictions(
  extensions: Readonly<Record<string, string | undefined>>,
): RouteRestrictions {
  return {
    organizations: parseList(extensions[ORGANIZATIONS]),
    models: parseList(extensions[MODELS]),
  };
}

/** Models of a key (null: all) that the route allows; empty if the route excludes the organization. */
export function restrictModels(
  keyModels: readonly string[] | null,
  organizationId: string,
  { organizations, models }: RouteRestrictions,
): readonly string[] | null {
  if (organizations !== null && !organizations.includes(organizationId)) return [];
  if (models === null || keyModels === null) return models ?? keyModels;
  return keyModels.filter((model) => models.includes(model));
}

function parseList(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
