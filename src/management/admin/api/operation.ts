/** Operator's view of this host: state of `gateway.yaml`, and the log level of its processes until they end. */
import * as z from "zod";
import { defineRoute } from "./route.ts";
import { getLogLevel, LOG_LEVELS } from "../../../shared/telemetry/log-level.ts";
import { timestamp } from "../../../shared/settings/input-schemas.ts";
import { answer, choice, input } from "../schemas/fields.ts";

const problem = z.strictObject({
  path: z.string().meta({ examples: ["catalog[0].upstream"] }),
  line: z.int().nullable().describe("Line of the file, from 1, if known."),
  message: z.string(),
});

const configurationState = answer("ConfigurationState", {
  catalog_since: timestamp().describe("Time from which the catalog is in force."),
  refused: z
    .strictObject({ since: timestamp(), problems: z.array(problem) })
    .nullable()
    .describe("Problems for which the current gateway.yaml was rejected; null: it is in force."),
  waiting_for_restart: z
    .array(z.string())
    .describe("Fields that have changed since the start and take effect after a restart."),
});

const logLevel = input("LogLevel", {
  level: choice(LOG_LEVELS).describe("Log level from now on, on every worker."),
});

const read = defineRoute({
  method: "GET",
  path: "/api/configuration",
  operationId: "getConfigurationState",
  summary: "Show whether this host uses the current gateway.yaml, and which fields need a restart.",
  access: "operator",
  answers: { 200: configurationState },
  handle: async (_call, { readConfigState }) => {
    const { catalogSince, refused, waitingForRestart } = await readConfigState();
    const problems = (refused?.problems ?? []).map(({ path, line = null, message }) => ({
      path,
      line,
      message,
    }));
    const body = {
      catalog_since: catalogSince,
      refused: refused === null ? null : { since: refused.since, problems },
      waiting_for_restart: waitingForRestart,
    };
    return { status: 200, body };
  },
});

const readLevel = defineRoute({
  method: "GET",
  path: "/api/log-level",
  operationId: "getLogLevel",
  summary: "Show the log level of this host.",
  access: "operator",
  answers: { 200: logLevel },
  handle: async () => ({ status: 200, body: { level: getLogLevel() } }),
});

const changeLevel = defineRoute({
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

export const operationRoutes = [read, readLevel, changeLevel];
