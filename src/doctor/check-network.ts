/** What the gateway reaches over the network: upstreams, mail server, webhooks, its own pages. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { createTransport } from "nodemailer";
import type { Config, UpstreamConfig } from "../config/schema.ts";
import type { RedisClient } from "../store/client.ts";
import { createStore } from "../store/redis-store.ts";
import { type Target, tryConnect } from "./connect.ts";
import { type Finding, ok, problem, reasonOf, warning } from "./finding.ts";

const TIMEOUT_MS = 5_000;
/** A sample of the organizations says whether mails and hooks leave this host. */
const MAX_WEBHOOKS = 20;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

export async function checkUpstreams({ upstreams }: Config): Promise<Finding[]> {
  const found = await Promise.all(
    upstreams.map((upstream) =>
      Promise.all(upstream.endpoints.map((endpoint) => checkEndpoint(upstream, endpoint))),
    ),
  );
  return found.flat();
}

async function checkEndpoint(
  { name, tls }: UpstreamConfig,
  { host, port, usesTls }: UpstreamConfig["endpoints"][number],
): Promise<Finding> {
  const check = `upstream.${name}`;
  const serverName = tls?.serverName ?? (isIP(host) === 0 ? host : null);
  const caFile = tls?.caFile ?? null;
  const where = `${usesTls ? "https" : "http"}://${host}:${port}`;
  try {
    const ca = caFile === null ? {} : { ca: readFileSync(caFile, "utf8") };
    const target: Target = {
      address: { host, port },
      ...(usesTls ? { tls: { serverName, ...ca } } : {}),
    };
    return ok(
      check,
      `Upstream ${name} at ${where} takes connections (${(await tryConnect(target)).toFixed(0)} ms).`,
    );
  } catch (error) {
    const what = `Upstream ${name} at ${where} does not take connections: ${reasonOf(error)}.`;
    const todo =
      "Requests to its models are answered 503 `model_starting`. Start the model server, or correct the URL, its " +
      "certificate or `tls.ca_file`; look at network rules between here and there.";
    return problem(check, what, todo);
  }
}

/** A whole greeting, log-in included; no mail is sent. */
export async function checkSmtp({ notifications }: Config): Promise<Finding[]> {
  const { smtp } = notifications;
  if (smtp === null) return [ok("smtp", "No mail server is configured; organizations cannot choose email.")];
  const { protocol, hostname, port } = new URL(smtp.url);
  const password = smtp.password?.reveal() ?? "";
  const transport = createTransport({
    host: hostname,
    port: port === "" ? (protocol === "smtps:" ? 465 : 587) : Number(port),
    secure: protocol === "smtps:",
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    ...(smtp.username === null ? {} : { auth: { user: smtp.username, pass: password } }),
  });
  try {
    await transport.verify();
    return [ok("smtp", `The mail server ${hostname} lets the gateway in.`)];
  } catch (error) {
    const text = password === "" ? reasonOf(error) : reasonOf(error).replaceAll(password, "[redacted]");
    const todo =
      "Correct `notifications.smtp` (URL, user, password) or open the way there; alerts wait up to three days.";
    return [problem("smtp", `The mail server ${hostname} cannot be used: ${text}.`, todo)];
  } finally {
    transport.close();
  }
}

/** The webhooks that organizations have set: is there a way to their hosts. */
export async function checkWebhooks(config: Config, client: RedisClient): Promise<Finding[]> {
  const store = createStore({ client, usageMonths: config.retention.usageMonths });
  const hosts = new Map<string, Target>();
  for (const id of await store.listOrganizationIds()) {
    if (hosts.size >= MAX_WEBHOOKS) break;
    const url = (await store.getOrganization(id))?.notifications.webhook?.url;
    if (url === undefined || !URL.canParse(url)) continue;
    const { protocol, hostname, port, host } = new URL(url);
    const isTls = protocol === "https:";
    const address = { host: hostname, port: port === "" ? (isTls ? 443 : 80) : Number(port) };
    hosts.set(host, { address, ...(isTls ? { tls: { serverName: hostname } } : {}) });
  }
  if (hosts.size === 0) return [ok("webhooks", "No organization has a webhook.")];
  const found = await Promise.all(
    [...hosts].map(async ([host, target]) => {
      try {
        await tryConnect(target);
        return null;
      } catch (error) {
        const todo =
          "Open the way out (firewall, proxy, DNS), or tell the organization; deliveries wait up to three days.";
        return warning("webhooks", `The webhook host ${host} cannot be reached: ${reasonOf(error)}.`, todo);
      }
    }),
  );
  const wrong = found.filter((finding) => finding !== null);
  return wrong.length > 0 ? wrong : [ok("webhooks", `${hosts.size} hosts of webhooks can be reached.`)];
}

/** Does the address that pages and mails name lead here. */
export async function checkPublicUrl(config: Config): Promise<Finding[]> {
  const check = "public_base_url";
  const { publicBaseUrl, notifications } = config;
  if (publicBaseUrl === null) {
    if (notifications.smtp === null) return [ok(check, "Not set; nothing is sent that names it.")];
    const todo = "Set `public_base_url`, so that the links in mails lead somewhere.";
    return [warning(check, "Mails are configured, and `public_base_url` is not set.", todo)];
  }
  const isOpen = publicBaseUrl.startsWith("http:") && !LOOPBACK.test(new URL(publicBaseUrl).hostname);
  if (isOpen) {
    const todo = "Put TLS in front of the gateway and write `https://…`: keys would travel in the clear.";
    return [warning(check, `${publicBaseUrl} is not encrypted.`, todo)];
  }
  try {
    const { status } = await fetch(`${publicBaseUrl}/healthz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (status === 200) return [ok(check, `${publicBaseUrl} leads to the gateway.`)];
    const todo = "See that the load balancer passes every path to Envoy's listener.";
    return [problem(check, `${publicBaseUrl}/healthz answers ${status}.`, todo)];
  } catch (error) {
    const reason =
      error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : reasonOf(error);
    const todo =
      "Look at DNS, load balancer and certificate; from inside the cluster the name may lead elsewhere.";
    return [problem(check, `${publicBaseUrl} cannot be reached: ${reason}.`, todo)];
  }
}
