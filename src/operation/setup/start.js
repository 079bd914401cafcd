/**
 * `npm start`: from a fresh clone to a running stack. Installs the required packages, builds if anything has
 * changed, then becomes `inference-gateway up` in the same process, so that signals reach it directly. Plain
 * JavaScript without packages, since it runs before anything else.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { prepareClone, ROOT } = await import("./prepare.js");
  const isFirst = !existsSync(join(ROOT, "dist"));
  // Otherwise the configuration decides whether a Redis is needed, and `up` reads it.
  const isDemo =
    !existsSync("gateway.yaml") && !process.argv.some((argument) => argument.startsWith("--config"));
  await prepareClone({ development: false, demoTools: isFirst && isDemo });
  process.argv.splice(2, 0, "up");
  await import(pathToFileURL(join(ROOT, "dist", "main.js")).href);
});
