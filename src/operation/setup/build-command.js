/** `npm run build`: installs packages and builds `dist`; does nothing if nothing has changed. */
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { prepareClone } = await import("./prepare.js");
  await prepareClone();
});
