/** `npm run build`: packages and `dist`, nothing where nothing has changed. */
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { prepareClone } = await import("./prepare.js");
  await prepareClone();
});
