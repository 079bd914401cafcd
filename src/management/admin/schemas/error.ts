import * as z from "zod";
import { answer, textOrNull } from "./fields.ts";

export const errorBody = answer("Error", {
  error: z.strictObject({
    message: z.string(),
    type: z.string(),
    code: z.string(),
    param: textOrNull("Field that the error is about; null: none."),
    request_id: z.string().nullable(),
    doc_url: z.string().describe("Its entry in the error reference: what it means and what to do."),
  }),
});
