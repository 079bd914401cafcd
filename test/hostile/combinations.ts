/** What the suite is run on: every combination in its long form, one in the short form. */
import { sidecarUnderTest, TRANSPORTS } from "../support/gateway-config.ts";

export const HTTP_VERSIONS = ["HTTP/1.1", "HTTP/2"] as const;
export type HttpVersion = (typeof HTTP_VERSIONS)[number];
type Transport = (typeof TRANSPORTS)[number];

export interface Combination {
  /** That both organizations speak. */
  readonly http: HttpVersion;
  readonly transport: Transport;
  readonly workers: number;
}

/** `HOSTILE=long`: all attacks in large numbers on every combination, and everything that they leave is waited for. */
export const IS_LONG = process.env["HOSTILE"] === "long";
/** `HOSTILE=all`: every combination, each in the short form. */
const HAS_ALL = IS_LONG || process.env["HOSTILE"] === "all";
/** Somebody is there who wants to know how it goes. */
export const IS_WATCHED = process.env["HOSTILE"] !== undefined;

/** `HOSTILE_HTTP`, `HOSTILE_TRANSPORTS` and `HOSTILE_WORKERS` name a part, separated by commas. */
export function chooseCombinations(): readonly Combination[] {
  const { transport = TRANSPORTS[0] } = sidecarUnderTest();
  const https = choose("HOSTILE_HTTP", HTTP_VERSIONS, ["HTTP/2"]);
  const transports = choose("HOSTILE_TRANSPORTS", TRANSPORTS, [transport]);
  const workers = choose("HOSTILE_WORKERS", ["1", "2"], ["2"]);
  return https.flatMap((http) =>
    transports.flatMap((transport) => workers.map((count) => ({ http, transport, workers: Number(count) }))),
  );
}

function choose<T extends string>(name: string, all: readonly T[], short: readonly T[]): readonly T[] {
  const named = process.env[name]?.split(",");
  if (named === undefined) return HAS_ALL ? all : short;
  const unknown = named.find((each) => !(all as readonly string[]).includes(each));
  if (unknown !== undefined) throw new Error(`${name}: expected ${all.join(" or ")}, found ${unknown}`);
  return all.filter((each) => named.includes(each));
}
