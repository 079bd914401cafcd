import * as z from "zod";
import { ofType } from "./fields.ts";

export interface UpstreamEndpoint {
  /** Host name or IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly usesTls: boolean;
  /** Share of the requests among the endpoints of its priority. */
  readonly weight: number;
  /** 0 is used first; higher values if lower ones cannot take the load. */
  readonly priority: number;
}

interface UrlForm {
  /** Text that completes "expected …". */
  readonly expectation: string;
  /** Schemes with the colon: "https:". */
  readonly schemes: readonly string[];
  readonly path: "none" | "allowed" | "required";
  readonly takesQuery?: true;
  /** Suggestion in place of a path, if none is allowed. */
  readonly pathHint?: string;
}

const UPSTREAM: UrlForm = {
  expectation: "`http://host:port` or `https://host:port`",
  schemes: ["http:", "https:"],
  path: "none",
  pathHint: "the path is written as `path_prefix`",
};
const REDIS: UrlForm = {
  expectation: "`redis://host:port`, `rediss://host:port` or `unix:///path/to/redis.sock`",
  schemes: ["redis:", "rediss:", "unix:"],
  path: "allowed",
};
const SMTP: UrlForm = {
  expectation: "`smtp://host:port` or `smtps://host:port`",
  schemes: ["smtp:", "smtps:"],
  path: "none",
};
const JWKS: UrlForm = {
  expectation: "`https://host/path`",
  schemes: ["http:", "https:"],
  path: "allowed",
  takesQuery: true,
};
const PUBLIC: UrlForm = {
  expectation: "`https://host` or `http://host`",
  schemes: ["http:", "https:"],
  path: "allowed",
};

/** URL of an upstream endpoint, without a path. */
export const upstreamUrl = () => url(UPSTREAM);
/** URL of a Redis server, or of its Unix socket. */
export const redisUrl = () =>
  url(REDIS).refine((value) => isRedisAddress(value), {
    error: `expected ${REDIS.expectation}, with only a database number after it`,
  });
/** URL of a mail server. */
export const smtpUrl = () => url(SMTP);
/** URL of a set of keys. */
export const jwksUrl = () => url(JWKS);
/** URL that people open, without a final slash. */
export const publicUrl = () => url(PUBLIC).transform((value) => value.replace(/\/+$/, ""));

function url(form: UrlForm) {
  const text = ofType(z.string({ error: `expected ${form.expectation}` }), "URL");
  return text.superRefine((value, context) => {
    const message = explainUrl(value, form);
    if (message !== null) context.addIssue({ code: "custom", message });
  });
}

function explainUrl(value: string, form: UrlForm): string | null {
  const expectation = `expected ${form.expectation}`;
  if (!URL.canParse(value)) return expectation;
  const parsed = new URL(value);
  if (!form.schemes.includes(parsed.protocol)) return expectation;
  if (parsed.username !== "" || parsed.password !== "") {
    return `${expectation} without a user name or password, which have their own fields`;
  }
  if (parsed.hostname === "" && parsed.protocol !== "unix:") return expectation;
  if (form.takesQuery === true && parsed.hash === "") return null;
  if (parsed.search !== "" || parsed.hash !== "") return `${expectation} without \`?\` and \`#\``;
  if (form.path === "none" && parsed.pathname !== "" && parsed.pathname !== "/") {
    return `${expectation} without a path${form.pathHint === undefined ? "" : `: ${form.pathHint}`}`;
  }
  return null;
}

function isRedisAddress(value: string): boolean {
  if (!URL.canParse(value)) return true;
  const { protocol, hostname, pathname } = new URL(value);
  return protocol === "unix:" ? hostname === "" && pathname.length > 1 : /^(?:\/\d{0,5})?$/.test(pathname);
}

/** Returns host and port of an accepted upstream URL; the scheme's default port if none is given. */
export function parseUpstreamEndpoint(value: string, weight = 1, priority = 0): UpstreamEndpoint {
  const { protocol, hostname, port } = new URL(value);
  const usesTls = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  return { host, port: port === "" ? (usesTls ? 443 : 80) : Number(port), usesTls, weight, priority };
}
