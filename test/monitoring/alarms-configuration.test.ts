/** Alarms by what is done to the gateway's configuration and disk, and to Prometheus's configuration. */
import { execFile } from "node:child_process";
import { readFile, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { SKIPPED_WHY } from "./find-prometheus.ts";
import { itFires, withPrometheus } from "./watched-stack.ts";

/** Below what is free when the stack starts, and taken by `provoke`: other tests of the machine write less meanwhile. */
const MARGIN_BYTES = 1024 ** 3;

const chat = withChatStack(async () => {
  const { bavail, bsize } = await statfs(tmpdir());
  return { overrides: { settlement: { spool_max_bytes: bavail * bsize - MARGIN_BYTES } } };
});
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

  const ballast = () => join(chat.stack.dir, "data/ballast");
  itFires(prometheus, {
    alert: "GatewayDiskShort",
    when: "the disk has less room than the spool may take",
    provoke: async () =>
      void (await promisify(execFile)("fallocate", ["-l", String(2 * MARGIN_BYTES), ballast()])),
    repair: () => rm(ballast(), { force: true }),
  });

  itFires(prometheus, {
    alert: "GatewayNotScraped",
    when: "Prometheus has no target of the gateway any more",
    provoke: () => prometheus().setScraped(false),
    repair: () => prometheus().setScraped(true),
  });
});
