/**
 * `npm start`: from a fresh clone to a running stack. Installs npm packages and builds where needed, then becomes
 * `inference-gateway up` in this same process, so that signals reach it without a relay. Plain JavaScript, without
 * packages: it runs before there is anything else.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { prepareClone, ROOT } = await import("./prepare.js");
  await prepareClone();
  process.argv.splice(2, 0, "up");
  await import(pathToFileURL(join(ROOT, "dist", "main.js")).href);
});
