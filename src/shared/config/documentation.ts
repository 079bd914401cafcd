/** Address of the documentation: as published, or the gateway's own pages. */
import { ERROR_PAGE } from "../contract/error-reference.ts";
import { formatLocalUrl } from "../host/local-url.ts";
import type { Config } from "./schema.ts";

/** Returns the address of the error reference: in the published documentation, or the dashboard's page. */
export function formatErrorReference({
  documentationUrl,
  dashboard,
  admin,
}: Pick<Config, "documentationUrl" | "dashboard" | "admin">): string {
  if (documentationUrl !== null) return `${documentationUrl}/errors.html`;
  const scheme = admin.tls === null ? "http" : "https";
  return `${dashboard.baseUrl ?? formatLocalUrl(admin.host, admin.port, scheme)}${ERROR_PAGE}`;
}
