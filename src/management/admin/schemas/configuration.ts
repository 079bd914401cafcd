import * as z from "zod";
import { timestamp } from "../../../shared/settings/input-schemas.ts";
import { answer } from "./fields.ts";

const problem = z.strictObject({
  path: z.string().meta({ examples: ["catalog[0].upstream"] }),
  line: z.int().nullable().describe("Line of the file, from 1, if known."),
  message: z.string(),
});

export const configurationState = answer("ConfigurationState", {
  catalog_since: timestamp().describe("Time from which the catalog is in force."),
  refused: z
    .strictObject({ since: timestamp(), problems: z.array(problem) })
    .nullable()
    .describe("Problems for which the current gateway.yaml was rejected; null: it is in force."),
  waiting_for_restart: z
    .array(z.string())
    .describe("Fields that have changed since the start and take effect after a restart."),
});
