/** `GET` and `PUT /api/log-level`: what this host's processes log, until they end. */
import { getLogLevel } from "../../../shared/telemetry/log-level.ts";
import { logLevel } from "../schemas/log-level.ts";
import { defineRoute } from "./route.ts";

const read = defineRoute({
  method: "GET",
  path: "/api/log-level",
  operationId: "getLogLevel",
  summary: "Show the log level of this host.",
  access: "operator",
  answers: { 200: logLevel },
  handle: async () => ({ status: 200, body: { level: getLogLevel() } }),
});

const change = defineRoute({
  method: "PUT",
  path: "/api/log-level",
  operationId: "setLogLevel",
  summary: "Change the log level of this host until its processes end.",
  access: "operator",
  body: logLevel,
  answers: { 200: logLevel },
  handle: async ({ body }, { setLogLevel, logger }) => {
    logger.info({ from: getLogLevel(), to: body.level }, "log level changed");
    await setLogLevel?.(body.level);
    return { status: 200, body: { level: getLogLevel() } };
  },
});

export const logLevelRoutes = [read, change];
