import * as z from "zod";
import { actor, timestamp } from "../../settings/input-schemas.ts";
import { answer } from "./fields.ts";
import { pageOf } from "./page.ts";

/** The id of an entry in a stream. */
export const AUDIT_CURSOR = /^[0-9]{1,20}-[0-9]{1,20}$/;

const fields = z.record(z.string(), z.unknown()).nullable();

const auditEntry = answer("AuditEntry", {
  id: z.string(),
  at: timestamp(),
  actor: actor().describe("Who: the operator, or an organization's token."),
  action: z.string().meta({ examples: ["key.updated"] }),
  target: z
    .strictObject({ type: z.string(), id: z.string(), name: z.string().nullable() })
    .describe("What was changed."),
  before: fields.describe("The fields that were changed, as they were; null: there was nothing."),
  after: fields.describe("The same fields as they are since; null: there is nothing any more."),
  request_id: z.string().describe("`x-request-id` of the call that made the change."),
});
export const auditPage = pageOf("AuditPage", auditEntry);
