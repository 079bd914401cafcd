/** Speaks as much of Envoy as the launcher needs: `--version`, `-c FILE`, and `GET /readyz` on the listener's port. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const args = process.argv.slice(2);
if (args.includes("--version")) {
  process.stdout.write("envoy  version: 0123456789abcdef/1.40.0/Clean/RELEASE/BoringSSL\n");
} else {
  const bootstrap = readFileSync(args[args.indexOf("-c") + 1] ?? "", "utf8");
  const port = Number(/listeners:[\s\S]*?port_value: (\d+)/.exec(bootstrap)?.[1]);
  process.stderr.write("stand-in for Envoy\n");
  if (process.env["ENVOY_STAND_IN"] === "exit") process.exit(3);
  createServer((_request, response) => response.end("{}")).listen(port, "127.0.0.1");
}
