/**
 * `npm start`: from a fresh clone to a running stack. Installs what the program itself needs and builds it if anything has
 * changed, then becomes `inference-gateway up` in this same process, so that signals reach it without a relay. Plain
 * JavaScript, without packages: it runs before there is anything else.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { prepareClone, ROOT } = await import("./prepare.js");
  const isFirst = !existsSync(join(ROOT, "dist"));
  // Otherwise the configuration says whether a Redis is needed, and `up` reads it.
  const isDemo =
    !existsSync("gateway.yaml") && !process.argv.some((argument) => argument.startsWith("--config"));
  await prepareClone({ development: false, demoTools: isFirst && isDemo });
  process.argv.splice(2, 0, "up");
  await import(pathToFileURL(join(ROOT, "dist", "main.js")).href);
});
