import { alertRoutes } from "./alerts.ts";
import { auditRoutes } from "./audit.ts";
import { catalogRoutes } from "./catalog.ts";
import { configurationRoutes } from "./configuration.ts";
import { keySecretRoutes } from "./key-secrets.ts";
import { keyRoutes } from "./keys.ts";
import { logLevelRoutes } from "./log-level.ts";
import { organizationRoutes } from "./organizations.ts";
import { requestRoutes } from "./requests.ts";
import type { ApiRoute, OrganizationRoute } from "./route.ts";
import { spendCorrectionRoutes } from "./spend-corrections.ts";
import { tokenRoutes } from "./tokens.ts";
import { usageRoutes } from "./usage.ts";
import { usageExportRoutes } from "./usage-export.ts";
import { webhookRoutes } from "./webhook.ts";

/** Every endpoint of the management API. A path without parameters stands before one that would take it for a value. */
export const API_ROUTES: readonly (ApiRoute | OrganizationRoute)[] = [
  ...organizationRoutes,
  ...keySecretRoutes,
  ...keyRoutes,
  ...usageExportRoutes,
  ...usageRoutes,
  ...spendCorrectionRoutes,
  ...requestRoutes,
  ...alertRoutes,
  ...webhookRoutes,
  ...tokenRoutes,
  ...auditRoutes,
  ...catalogRoutes,
  ...configurationRoutes,
  ...logLevelRoutes,
];
