import { type Command, InvalidArgumentError } from "commander";

/** `demo-upstream`: the small model server that `up` starts by itself, for a container next to the gateway. */
export function addDemoUpstreamCommand(program: Command): void {
  program
    .command("demo-upstream", { hidden: true })
    .description("Run only the demo model server, which repeats its input. For trials.")
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 for a free one", parsePort, 9000)
    .action((options: { host: string; port: number }) => demoUpstreamAction(options));
}

async function demoUpstreamAction(options: { host: string; port: number }): Promise<void> {
  const { startDemoUpstream } = await import("../demo/upstream.ts");
  const upstream = await startDemoUpstream(options);
  process.stderr.write(`demo upstream on ${upstream.url}\n`);
  const end = (): void => {
    void upstream.close().finally(() => process.exit(0));
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("expected a port from 0 to 65535");
}
