/** `GET /api/configuration`: how what runs on this host stands to `gateway.yaml`. */
import { configurationState } from "../schemas/configuration.ts";
import { defineRoute } from "./route.ts";

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

export const configurationRoutes = [read];
