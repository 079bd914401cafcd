import * as z from "zod";
import { PERSON_ROLES } from "../../../data-path/store/types/sessions.ts";
import { answer, textOrNull } from "./fields.ts";

export const whoami = answer("WhoAmI", {
  type: z
    .enum(["operator", "token", "person"])
    .describe("The operator's token, an organization's token, or a person who has signed in."),
  name: textOrNull("Name of the token or person; null: the operator's token."),
  role: z.enum(PERSON_ROLES),
  issuer: textOrNull("Identifies a person, with `subject`; null: a token."),
  subject: z.string().nullable(),
  user_id: textOrNull("User of the person; null: none."),
  organization: z
    .strictObject({ id: z.string(), name: z.string() })
    .nullable()
    .describe("Organization that it can access; null: all, for the operator."),
});
