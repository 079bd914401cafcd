/** The launcher around stand-ins for Envoy and the gateway: `run-launch <gateway.yaml> <the gateway's stand-in>`. */
import { launch } from "../../../src/operation/launcher/launch.ts";

try {
  process.exit(
    await launch({
      configFile: process.argv[2] ?? null,
      json: true,
      entry: process.argv[3] ?? "",
    }),
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
