import type { z } from "zod";
import { alertRoutes } from "./alerts.ts";
import { allSpendRoutes } from "./all-spend.ts";
import { auditRoutes } from "./audit.ts";
import { catalogRoutes } from "./catalog.ts";
import { emailRoutes } from "./email.ts";
import { keySecretRoutes } from "./key-secrets.ts";
import { keyRoutes } from "./keys.ts";
import { limitRoutes } from "./limits.ts";
import { ownRoutes } from "./own.ts";
import { operationRoutes } from "./operation.ts";
import { organizationRoutes } from "./organizations.ts";
import { raiseRoutes } from "./raises.ts";
import { countRequestsRoute } from "./request-counts.ts";
import { requestRoutes } from "./requests.ts";
import { sessionRoutes, whoamiRoute } from "./sessions.ts";
import { accessOf, type ApiRoute, type OrganizationRoute } from "./route.ts";
import { spendCorrectionRoutes } from "./spend-corrections.ts";
import { statementRoutes } from "./statement.ts";
import { tokenRoutes } from "./tokens.ts";
import { usageRoutes } from "./usage.ts";
import { usageExportRoutes } from "./usage-export.ts";
import { groupRoutes, userRoutes } from "./owner-routes.ts";
import { webhookRoutes } from "./webhook.ts";

/**
 * Routes by their section in the OpenAPI document. A path without parameters precedes one that would match it
 * as a value.
 */
const ROUTES = {
  Organizations: organizationRoutes,
  Keys: [...keySecretRoutes, ...keyRoutes],
  Users: userRoutes,
  Groups: groupRoutes,
  Limits: limitRoutes,
  Raises: raiseRoutes,
  Own: ownRoutes,
  Usage: [
    ...usageExportRoutes,
    ...usageRoutes,
    ...statementRoutes,
    ...allSpendRoutes,
    ...spendCorrectionRoutes,
  ],
  Requests: [countRequestsRoute, ...requestRoutes],
  Alerts: [...alertRoutes, ...emailRoutes, ...webhookRoutes],
  Tokens: tokenRoutes,
  Sessions: [whoamiRoute, ...sessionRoutes],
  Audit: auditRoutes,
  Catalog: catalogRoutes,
  Operation: operationRoutes,
} satisfies Readonly<Record<string, readonly (ApiRoute | OrganizationRoute)[]>>;

type Route = (typeof ROUTES)[keyof typeof ROUTES][number];
type BodyOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/**
 * Response bodies of successful calls, by method and path, "GET /api/catalog". The schemas are those of the
 * OpenAPI document; tests check responses against them.
 */
export type AnswerBodies = {
  [One in Route as `${One["method"]} ${One["path"]}`]: BodyOf<
    One["answers"][keyof One["answers"] & (200 | 201)]
  >;
};

export const API_ROUTES = Object.entries<readonly (ApiRoute | OrganizationRoute)[]>(ROUTES).flatMap(
  ([tag, routes]) => routes.map((route) => ({ ...route, tag, access: accessOf(route) })),
);
