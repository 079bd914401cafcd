import { LOG_LEVELS } from "../../telemetry/log-level.ts";
import { choice, named, record } from "./fields.ts";

export const logLevel = named(
  "LogLevel",
  record({ level: choice(LOG_LEVELS).meta({ description: "What is logged from now on, on every worker." }) }),
);
