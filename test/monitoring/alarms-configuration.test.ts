/** Alarms by what is done to the gateway's configuration, and to Prometheus's. */
import { readFile, writeFile } from "node:fs/promises";
import { describe } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { SKIPPED_WHY } from "./find-prometheus.ts";
import { itFires, withPrometheus } from "./watched-stack.ts";

const chat = withChatStack();
const prometheus = withPrometheus(() => chat.stack);

describe(`with configurations that do not do${SKIPPED_WHY}`, () => {
  let valid = "";

  itFires(prometheus, {
    alert: "GatewayConfigurationRefused",
    when: "gateway.yaml is changed into one that is not valid",
    provoke: async () => {
      valid = await readFile(chat.stack.configFile, "utf8");
      await writeFile(chat.stack.configFile, valid.replace("catalog", "catalogue"));
    },
    repair: () => writeFile(chat.stack.configFile, valid),
  });

  itFires(prometheus, {
    alert: "GatewayNotScraped",
    when: "Prometheus has no target of the gateway any more",
    provoke: () => prometheus().setScraped(false),
    repair: () => prometheus().setScraped(true),
  });
});
