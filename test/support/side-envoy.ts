/** A second Envoy with an edited copy of a bootstrap, beside a running stack or by itself. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { ensureEnvoy } from "../../src/operation/setup/envoy.ts";
import { createToolContext } from "../../src/operation/setup/tool-context.ts";
import { type Child, startChild } from "./child.ts";
import { findFreePort } from "./free-port.ts";
import { send } from "./http.ts";
import { waitFor } from "./wait.ts";

type Node = Record<string, unknown>;

/** The parts of a rendered bootstrap that tests change. */
export interface EditableBootstrap {
  readonly manager: Node;
  clusters: { name: string; [field: string]: unknown }[];
}

export interface SideEnvoyOptions {
  /** The text that `envoy render` gives, or that the stack's Envoy runs with. */
  readonly bootstrap: string;
  readonly edit: (bootstrap: EditableBootstrap) => void;
  /** For the files of this Envoy; their names begin with `name`. */
  readonly dir: string;
  readonly name: string;
  /** Envoy's `--concurrency`; its own default when left out. */
  readonly concurrency?: string;
}

export interface SideEnvoy {
  readonly baseUrl: string;
  readonly adminSocket: string;
  readonly child: Child;
  stop(): Promise<unknown>;
}

/** Starts it on a free port and resolves when it answers. */
export async function startSideEnvoy(options: SideEnvoyOptions): Promise<SideEnvoy> {
  const { dir, name } = options;
  const port = await findFreePort();
  const file = join(dir, `${name}.yaml`);
  await writeFile(file, editBootstrap(options, port), { mode: 0o600 });
  const { path } = await ensureEnvoy(createToolContext());
  const concurrency = options.concurrency === undefined ? [] : ["--concurrency", options.concurrency];
  const args = ["-c", file, "--disable-hot-restart", "--log-level", "warning", ...concurrency];
  const child = startChild(path, args);
  const baseUrl = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<boolean> => {
    if (child.ended !== null) throw new Error(`Envoy ended: ${child.ended}`);
    return (await send(baseUrl, { path: "/", timeoutMs: 2_000 })).status > 0;
  };
  try {
    await waitFor(`Envoy ${name}`, isUp, { timeoutMs: 20_000, intervalMs: 50 });
  } catch (thrown) {
    await child.stop(5_000);
    throw new Error(`${String(thrown)}\n${child.stderr}`, { cause: thrown });
  }
  return { baseUrl, adminSocket: adminSocketOf(options), child, stop: () => child.stop(10_000) };
}

function editBootstrap(options: SideEnvoyOptions, port: number): string {
  const bootstrap = parse(options.bootstrap) as {
    admin: Node;
    static_resources: {
      listeners: { address: Node; filter_chains: { filters: { typed_config: Node }[] }[] }[];
      clusters: EditableBootstrap["clusters"];
    };
  };
  const { static_resources: resources } = bootstrap;
  const [listener] = resources.listeners;
  const manager = listener?.filter_chains[0]?.filters[0]?.typed_config;
  if (listener === undefined || manager === undefined) {
    throw new Error("the bootstrap has no connection manager where it is expected");
  }
  // One file, one writer. What goes to the gateway's workers has no file.
  manager["access_log"] = (manager["access_log"] as { name: string }[]).filter(
    ({ name }) => name === "envoy.access_loggers.http_grpc",
  );
  listener.address = { socket_address: { address: "127.0.0.1", port_value: port } };
  bootstrap.admin = { address: { pipe: { path: adminSocketOf(options), mode: 0o600 } } };
  const editable: EditableBootstrap = { manager, clusters: resources.clusters };
  options.edit(editable);
  resources.clusters = editable.clusters;
  return stringify(bootstrap);
}

function adminSocketOf({ dir, name }: SideEnvoyOptions): string {
  return join(dir, `${name}.sock`);
}
