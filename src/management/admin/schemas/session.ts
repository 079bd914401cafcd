import * as z from "zod";
import { timestamp } from "../../../shared/settings/input-schemas.ts";
import { PERSON_ROLES } from "../../../data-path/store/types/sessions.ts";
import { answer, textOrNull } from "./fields.ts";
import { pageOf } from "./page.ts";

export const SESSION_ID = /^session_[0-9a-f]{64}$/;

const session = answer("Session", {
  id: z.string().meta({ examples: [`session_${"0f".repeat(32)}`] }),
  type: z
    .enum(["operator", "token", "person"])
    .describe(
      "How it was begun: with the operator's token, an organization's token, or an identity provider.",
    ),
  name: textOrNull("Name of the token, or of the person at the provider; null: the operator."),
  role: z.enum(PERSON_ROLES),
  provider: textOrNull("Name of the provider in `dashboard.oidc`; null: a token."),
  issuer: z.string().nullable(),
  subject: z.string().nullable(),
  user_id: textOrNull("User of the person; null: none."),
  created_at: timestamp(),
  last_seen_at: timestamp().describe("Last use, to the minute. The session ends eight hours later."),
  ends_at: timestamp().describe("Latest end."),
});
export const sessionPage = pageOf("SessionPage", session);
