import * as z from "zod";
import { timestamp } from "../../settings/input-schemas.ts";
import { answer } from "./fields.ts";

const problem = z.strictObject({
  path: z.string().meta({ examples: ["catalog[0].upstream"] }),
  line: z.int().nullable().describe("From 1, where it is known."),
  message: z.string(),
});

export const configurationState = answer("ConfigurationState", {
  catalog_since: timestamp().describe("When the catalog in force was taken over."),
  refused: z
    .strictObject({ since: timestamp(), problems: z.array(problem) })
    .nullable()
    .describe("Not null: gateway.yaml as it is now was refused, the catalog before it is in force."),
  waiting_for_restart: z
    .array(z.string())
    .describe("Fields that have changed since the start and take effect after a restart."),
});
