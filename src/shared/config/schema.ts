/**
 * Schema of `gateway.yaml`: strict, with description, default and unit of every field. Checks single values;
 * checks across several places of the file (existing names, consistent limits) are in load/check-settings.ts.
 * Reads no secrets: a reference becomes a `Secret`, which is read when it is used.
 */
import { dirname, join } from "node:path";
import type { z } from "zod";
import type { CamelCased } from "./schema/camel-case.ts";
import { described, mapping, path } from "./schema/fields.ts";
import { createCatalogSchema } from "./schema/catalog.ts";
import { createDashboardSchema } from "./schema/dashboard.ts";
import {
  createLimitsSchema,
  createNotificationsSchema,
  createDocumentationUrlSchema,
  createPublicBaseUrlSchema,
  createRetentionSchema,
  createSettlementSchema,
} from "./schema/operations.ts";
import { createJwtSchema } from "./schema/jwt.ts";
import { createRedisSchema } from "./schema/redis.ts";
import { createAdminSchema, createListenSchema, createSidecarSchema } from "./schema/server.ts";
import { createTelemetrySchema } from "./schema/telemetry.ts";
import { createUpstreamsSchema } from "./schema/upstreams.ts";
import type { SecretSource } from "./secret.ts";

/** Creates the schema for a file in `source.baseDir`, against which relative paths and secrets are resolved. */
export function createConfigSchema(source: SecretSource) {
  return mapping({
    listen: createListenSchema(source),
    admin: createAdminSchema(source),
    sidecar: createSidecarSchema(source),
    data_dir: described(path(source).optional(), "Directory for spool, private Redis and generated tokens.", {
      default: "`data`, next to the directory `sidecar.sockets`",
    }),
    redis: createRedisSchema(source),
    upstreams: createUpstreamsSchema(source),
    catalog: createCatalogSchema(),
    jwt: createJwtSchema(source),
    limits: createLimitsSchema(),
    settlement: createSettlementSchema(source),
    retention: createRetentionSchema(),
    public_base_url: createPublicBaseUrlSchema(),
    documentation_url: createDocumentationUrlSchema(),
    dashboard: createDashboardSchema(source),
    notifications: createNotificationsSchema(source),
    telemetry: createTelemetrySchema(source),
  }).transform((given) => {
    const dataDir = given.data_dir ?? join(dirname(given.sidecar.sockets), "data");
    const spool = given.settlement.spool ?? join(dataDir, "spool");
    return { ...given, data_dir: dataDir, settlement: { ...given.settlement, spool } };
  });
}

/** Checked `gateway.yaml`: camelCase keys, defaults filled in, absolute paths, deeply frozen. */
export type Config = CamelCased<z.output<ReturnType<typeof createConfigSchema>>>;
/** Entry of `upstreams`. */
export type UpstreamConfig = Config["upstreams"][number];
/** Entry of `catalog`. */
export type ModelConfig = Config["catalog"][number];
/** Entry of `jwt.providers`. */
export type JwtProviderConfig = Config["jwt"]["providers"][number];
/** Entry of `dashboard.oidc`. */
export type OidcProviderConfig = Config["dashboard"]["oidc"][number];
