import type { Config } from "../../shared/config/schema.ts";

/** Decisions of the launcher that override the file, passed to every process of the stack. */
export interface ConfigOverrides {
  /** Directory of the sockets, if the configured path is too long. */
  readonly sockets?: string | undefined;
  /** Unix socket of the private Redis, if the file names no Redis. */
  readonly privateRedis?: string | undefined;
  /** Chosen free port, if the file has 0. */
  readonly listenPort?: number | undefined;
}

/** Picks only these from larger options. */
export function pickOverrides({ sockets, privateRedis, listenPort }: ConfigOverrides): ConfigOverrides {
  return { sockets, privateRedis, listenPort };
}

/** Returns the running configuration. */
export function applyOverrides(config: Config, overrides: ConfigOverrides): Config {
  const { sockets, privateRedis, listenPort } = overrides;
  return Object.freeze({
    ...config,
    listen: Object.freeze({ ...config.listen, port: listenPort ?? config.listen.port }),
    sidecar: Object.freeze({ ...config.sidecar, sockets: sockets ?? config.sidecar.sockets }),
    redis: privateRedis === undefined ? config.redis : createPrivateRedis(privateRedis),
  });
}

/** Formats the overrides as command-line arguments of `serve` and `worker`. */
export function formatOverrides(overrides: ConfigOverrides): readonly string[] {
  const { sockets, privateRedis, listenPort } = overrides;
  return [
    ...(sockets === undefined ? [] : ["--sockets", sockets]),
    ...(privateRedis === undefined ? [] : ["--private-redis", privateRedis]),
    ...(listenPort === undefined ? [] : ["--listen-port", String(listenPort)]),
  ];
}

function createPrivateRedis(socket: string): Config["redis"] {
  return Object.freeze({
    mode: "single" as const,
    urls: Object.freeze([`unix://${socket}`]),
    name: null,
    username: null,
    password: null,
    sentinelPassword: null,
    caFile: null,
    certFile: null,
    keyFile: null,
  });
}
