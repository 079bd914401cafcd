import * as z from "zod";
import { PERSON_ROLES } from "../../store/types/sessions.ts";
import { answer, textOrNull } from "./fields.ts";

export const whoami = answer("WhoAmI", {
  type: z
    .enum(["operator", "token", "person"])
    .describe("The operator's token, an organization's token, or a person who has signed in."),
  name: textOrNull("Of the token or the person; null: the operator's token."),
  role: z.enum(PERSON_ROLES),
  issuer: textOrNull("With `subject` who a person is; null: a token."),
  subject: z.string().nullable(),
  user_id: textOrNull("The user that the person is; null: none."),
  organization: z
    .strictObject({ id: z.string(), name: z.string() })
    .nullable()
    .describe("The only one that it opens; null: the operator, who has all."),
});
