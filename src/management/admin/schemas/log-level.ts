import { LOG_LEVELS } from "../../../shared/telemetry/log-level.ts";

import { choice, input } from "./fields.ts";

export const logLevel = input("LogLevel", {
  level: choice(LOG_LEVELS).describe("Log level from now on, on every worker."),
});
