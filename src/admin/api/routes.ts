import { alertRoutes } from "./alerts.ts";
import { auditRoutes } from "./audit.ts";
import { catalogRoutes } from "./catalog.ts";
import { configurationRoutes } from "./configuration.ts";
import { groupRoutes } from "./groups.ts";
import { keySecretRoutes } from "./key-secrets.ts";
import { keyRoutes } from "./keys.ts";
import { limitRoutes } from "./limits.ts";
import { logLevelRoutes } from "./log-level.ts";
import { ownRoutes } from "./own.ts";
import { organizationRoutes } from "./organizations.ts";
import { raiseRoutes } from "./raises.ts";
import { requestRoutes } from "./requests.ts";
import { sessionRoutes } from "./sessions.ts";
import { accessOf, type ApiRoute, type OrganizationRoute } from "./route.ts";
import { spendCorrectionRoutes } from "./spend-corrections.ts";
import { tokenRoutes } from "./tokens.ts";
import { usageRoutes } from "./usage.ts";
import { usageExportRoutes } from "./usage-export.ts";
import { userRoutes } from "./users.ts";
import { webhookRoutes } from "./webhook.ts";
import { whoamiRoute } from "./whoami.ts";

/** By what the OpenAPI document lists them under. A path without parameters stands before one that would take it for a value. */
const ROUTES: Readonly<Record<string, readonly (ApiRoute | OrganizationRoute)[]>> = {
  Organizations: organizationRoutes,
  Keys: [...keySecretRoutes, ...keyRoutes],
  Users: userRoutes,
  Groups: groupRoutes,
  Limits: limitRoutes,
  Raises: raiseRoutes,
  Own: ownRoutes,
  Usage: [...usageExportRoutes, ...usageRoutes, ...spendCorrectionRoutes],
  Requests: requestRoutes,
  Alerts: [...alertRoutes, ...webhookRoutes],
  Tokens: tokenRoutes,
  Sessions: [whoamiRoute, ...sessionRoutes],
  Audit: auditRoutes,
  Catalog: catalogRoutes,
  Operation: [...configurationRoutes, ...logLevelRoutes],
};

/** Every endpoint of the management API. */
export const API_ROUTES = Object.entries(ROUTES).flatMap(([tag, routes]) =>
  routes.map((route) => ({ ...route, tag, access: accessOf(route) })),
);
