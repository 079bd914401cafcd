import { LOG_LEVELS } from "../../telemetry/log-level.ts";
import { record } from "../../settings/input-schemas.ts";
import { choice, named } from "./fields.ts";

export const logLevel = named(
  "LogLevel",
  record({ level: choice(LOG_LEVELS).describe("What is logged from now on, on every worker.") }),
);
