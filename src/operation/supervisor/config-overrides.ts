import type { Config } from "../../shared/config/schema.ts";

/** What the launcher decides by itself and tells every process of the stack, over what the file says. */
export interface ConfigOverrides {
  /** Folder of the sockets: another one where the configured path is too long. */
  readonly sockets?: string | undefined;
  /** Unix socket of the private Redis, where the file names no Redis. */
  readonly privateRedis?: string | undefined;
  /** The free port that was found, where the file says 0. */
  readonly listenPort?: number | undefined;
}

/** These alone, of options that have more. */
export function pickOverrides({ sockets, privateRedis, listenPort }: ConfigOverrides): ConfigOverrides {
  return { sockets, privateRedis, listenPort };
}

/** The configuration in force. */
export function applyOverrides(config: Config, overrides: ConfigOverrides): Config {
  const { sockets, privateRedis, listenPort } = overrides;
  return Object.freeze({
    ...config,
    listen: Object.freeze({ ...config.listen, port: listenPort ?? config.listen.port }),
    sidecar: Object.freeze({ ...config.sidecar, sockets: sockets ?? config.sidecar.sockets }),
    redis: privateRedis === undefined ? config.redis : createPrivateRedis(privateRedis),
  });
}

/** The same as command-line arguments of `serve` and `worker`. */
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
