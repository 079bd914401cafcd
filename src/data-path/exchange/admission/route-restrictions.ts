/**
 * What an operator allows on a route, written in Envoy's configuration alone: `context_extensions` of ext_authz, comma
 * separated. Only Envoy's configuration can set them, never a client.
 */
export interface RouteRestrictions {
  /** Ids; null: every organization. */
  readonly organizations: readonly string[] | null;
  /** Ids of the catalog; null: every model. */
  readonly models: readonly string[] | null;
}

const ORGANIZATIONS = "allowed_organizations";
const MODELS = "allowed_models";

/** Names in `context_extensions` that mean something to the gateway. */
export const RESTRICTION_NAMES: readonly string[] = [ORGANIZATIONS, MODELS];

/** A name with nothing behind it allows nothing: an empty variable in a template must not open a route. */
export function parseRouteRestrictions(
  extensions: Readonly<Record<string, string | undefined>>,
): RouteRestrictions {
  return {
    organizations: parseList(extensions[ORGANIZATIONS]),
    models: parseList(extensions[MODELS]),
  };
}

/** The models of a key (null: all) that are allowed on this route too; none for an organization that is not. */
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
