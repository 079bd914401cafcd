/** The launcher around stand-ins for Envoy and the gateway: `run-launch.ts <gateway.yaml>`. */
import { fileURLToPath } from "node:url";
import { launch } from "../../../src/launcher/launch.ts";

try {
  process.exit(
    await launch({
      configFile: process.argv[2] ?? null,
      json: true,
      entry: fileURLToPath(new URL("./gateway-stand-in.ts", import.meta.url)),
    }),
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
