/** Findings about upstreams, mail server, webhooks and the public address: real servers that are wrong in one way. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startMailServer } from "../../support/mail-server.ts";
import { startRedis } from "../../support/redis.ts";
import { createTestKey } from "../../support/test-key.ts";
import { createTestAuthority } from "../../support/tls.ts";
import { startUpstream } from "../../support/upstream.ts";
import { startWebhookReceiver } from "../../support/webhook-receiver.ts";
import { NO_WATCH } from "../../support/no-watch.ts";
import { type DoctorWorld, type Provocation, type Report, SECRET } from "./provocation.ts";

const FROM = "Gateway <gateway@example.org>";
const LOGIN = { username: "gateway", password: { env: "T_SECRET" } };
/** 127.0.0.1 in a notation that is not known as this machine's own, so that rules for the network hold. */
const ELSEWHERE = "[::ffff:127.0.0.1]";

/** An HTTPS upstream with this certificate, checked against that authority. */
async function examineUpstream(
  world: DoctorWorld,
  certificate: { names: string[]; isExpired?: boolean },
  trusted: "its own" | "another" | "none",
): Promise<Report> {
  const { names, isExpired = false } = certificate;
  const keyPair = await world.authority.issue("upstream", names, { isExpired });
  const server = await startUpstream({ tls: keyPair });
  const other = await createTestAuthority();
  const ca = { "its own": world.authority.ca, another: other.ca, none: null }[trusted];
  try {
    const tls = ca === null ? {} : { tls: { ca_file: "ca.pem" } };
    return await world.examine({ upstreams: [{ name: "local", url: server.url, ...tls }] }, (folder) =>
      writeFile(join(folder, "ca.pem"), ca ?? ""),
    );
  } finally {
    await other.close();
    await server.close();
  }
}

/** A certificate of the API, in its files. */
async function examineCertificate(
  world: DoctorWorld,
  { cert, key }: { readonly cert: string; readonly key: string | null },
): Promise<Report> {
  const tls = { cert_file: "api.crt", key_file: "api.key" };
  return world.examine({ listen: { tls } }, async (folder) => {
    await writeFile(join(folder, "api.crt"), cert);
    if (key !== null) await writeFile(join(folder, "api.key"), key);
  });
}

async function examineMail(
  world: DoctorWorld,
  options: Parameters<typeof startMailServer>[0],
  hostOf: (port: number) => string,
): Promise<Report> {
  const server = await startMailServer(options);
  try {
    const smtp = { url: `smtp://${hostOf(server.port)}`, ...LOGIN, from: FROM };
    return await world.examine({ notifications: { smtp } });
  } finally {
    await server.close();
  }
}

const jwtAt = (url: string) => ({
  providers: [
    {
      name: "corp",
      issuer: "https://login.example.com",
      audiences: ["gateway"],
      jwks: { url },
      organization: "org_1",
    },
  ],
});

/** With an organization that has this webhook, in a Redis of its own. */
async function examineWebhook(world: DoctorWorld, url: string, allowPrivate: boolean): Promise<Report> {
  const redis = await startRedis({ appendOnly: true });
  const webhook = { url, secrets: [{ secret: "whsec_AAAA", expiresAtMs: null }] };
  const notifications = { ...NO_WATCH, dashboard: true, emails: [], webhook, webhooks: [] };
  try {
    await world.withStore((store) => createTestKey(store, {}, { notifications }), redis.url);
    return await world.examine({
      redis: { url: redis.url },
      notifications: { webhooks: { allow_private_networks: allowPrivate } },
    });
  } finally {
    await redis.stop();
  }
}

async function examineUntrustedWebhook(world: DoctorWorld): Promise<Report> {
  const receiver = await startWebhookReceiver({ tls: await world.authority.issue("hook", ["IP:127.0.0.1"]) });
  try {
    return await examineWebhook(world, receiver.url, true);
  } finally {
    await receiver.close();
  }
}

/** Something else answers there, as the admin server would for `public_base_url`. */
async function examineElsewhere(
  world: DoctorWorld,
  createOverrides: (url: string) => object,
): Promise<Report> {
  const server = createServer((_request, response) => response.writeHead(404).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    return await world.examine(createOverrides(`http://127.0.0.1:${port}`));
  } finally {
    server.close();
  }
}

export const NETWORK_FAULTS = {
  certificate_unusable: [
    {
      name: "the key's file is missing",
      provoke: async (world) =>
        examineCertificate(world, { ...(await world.authority.issue("api", ["localhost"])), key: null }),
      says: /`listen\.tls` can't be read: .*api\.key/,
    },
    {
      name: "the key is another certificate's",
      provoke: async (world) => {
        const [{ cert }, { key }] = [
          await world.authority.issue("api", ["localhost"]),
          await world.authority.issue("other", ["localhost"]),
        ];
        return examineCertificate(world, { cert, key });
      },
      says: /`listen\.tls`: .*api\.key isn't the key of .*api\.crt/,
    },
    {
      name: "the certificate has expired",
      provoke: async (world) =>
        examineCertificate(world, await world.authority.issue("api", ["localhost"], { isExpired: true })),
      says: /api\.crt expired on /,
    },
  ],
  certificate_expires: [
    {
      name: "the certificate is for a day",
      provoke: async (world) => examineCertificate(world, await world.authority.issue("api", ["localhost"])),
      says: /api\.crt expires on /,
    },
  ],
  upstream_unreachable: [
    {
      name: "nothing listens there",
      provoke: (world) => world.examine(),
      says: /^The upstream local refused the connection: nothing listens at its address \(http:\/\/127\.0\.0\.1:\d+\/v1: connect ECONNREFUSED 127\.0\.0\.1:\d+\)\.$/,
    },
  ],
  upstream_untrusted: [
    {
      name: "its certificate is expired",
      provoke: (world) => examineUpstream(world, { names: ["IP:127.0.0.1"], isExpired: true }, "its own"),
      says: /expired/,
    },
    {
      name: "its certificate is for another name",
      provoke: (world) => examineUpstream(world, { names: ["other.example.com"] }, "its own"),
      says: /not in the cert's list/,
    },
    {
      name: "its certificate is of another authority than ca_file's",
      provoke: (world) => examineUpstream(world, { names: ["IP:127.0.0.1"] }, "another"),
      says: /unable to verify|unable to get local issuer|self-signed/,
    },
    {
      name: "its certificate is of an authority that nobody knows",
      provoke: (world) => examineUpstream(world, { names: ["IP:127.0.0.1"] }, "none"),
      says: /unable to verify|unable to get local issuer|self-signed/,
    },
  ],
  smtp_unreachable: [
    {
      name: "nothing listens there",
      provoke: (world) =>
        world.examine({
          notifications: { smtp: { url: `smtp://127.0.0.1:${world.closedPort}`, ...LOGIN, from: FROM } },
        }),
      says: /ECONNREFUSED/,
    },
    {
      name: "its certificate is of an authority that nobody knows",
      provoke: async (world) => {
        const keyPair = await world.authority.issue("mail", ["IP:127.0.0.1"]);
        const login = { user: "gateway", password: SECRET };
        const security = { mode: "starttls" as const, keyPair };
        return examineMail(world, { security, login }, (port) => `127.0.0.1:${port}`);
      },
      says: /certificate/,
    },
  ],
  smtp_login_refused: [
    {
      name: "the password is wrong",
      provoke: (world) =>
        examineMail(
          world,
          { login: { user: "gateway", password: `not-${SECRET}` } },
          (port) => `127.0.0.1:${port}`,
        ),
      says: /can't be used: Invalid login/,
    },
  ],
  smtp_unencrypted: [
    {
      name: "it offers no STARTTLS",
      provoke: (world) =>
        examineMail(
          world,
          { login: { user: "gateway", password: SECRET } },
          (port) => `${ELSEWHERE}:${port}`,
        ),
      says: /STARTTLS/,
    },
  ],
  webhook_unreachable: [
    {
      name: "nothing listens there",
      provoke: (world) => examineWebhook(world, `https://127.0.0.1:${world.closedPort}/hook`, true),
      says: /the connection was refused/,
    },
    {
      name: "its certificate is of an authority that nobody knows",
      provoke: examineUntrustedWebhook,
      says: /the connection failed \(.*(?:CERT|SIGNED|UNABLE).*\)/,
    },
  ],
  webhook_not_allowed: [
    {
      name: "it leads into the operator's own network",
      provoke: (world) => examineWebhook(world, `https://127.0.0.1:${world.closedPort}/hook`, false),
      says: /host's address isn't public/,
    },
  ],
  token_keys_unreachable: [
    {
      name: "nothing listens there",
      provoke: (world) => world.examine({ jwt: jwtAt(`http://127.0.0.1:${world.closedPort}/keys`) }),
      says: /keys of corp can't be read at .*ECONNREFUSED/,
    },
    {
      name: "something else answers there",
      provoke: (world) => examineElsewhere(world, (url) => ({ jwt: jwtAt(url) })),
      says: /keys of corp can't be read at .*: the response is 404/,
    },
  ],
  public_url_unencrypted: [
    {
      name: "it begins with http:// and is not this machine",
      provoke: (world) => world.examine({ public_base_url: "http://gateway.example.com" }),
      says: /isn't encrypted/,
    },
  ],
  public_url_elsewhere: [
    {
      name: "something else answers there",
      provoke: (world) => examineElsewhere(world, (url) => ({ public_base_url: url })),
      says: /\/v1\/models returned 404, which isn't the response of the API/,
    },
  ],
  public_url_unreachable: [
    {
      name: "nothing listens there",
      provoke: (world) => world.examine({ public_base_url: `http://127.0.0.1:${world.closedPort}` }),
      says: /can't be reached: .*ECONNREFUSED/,
    },
  ],
  dashboard_url_missing: [
    {
      name: "mails are configured and it is not set",
      provoke: (world) =>
        world.examine({
          notifications: { smtp: { url: `smtp://127.0.0.1:${world.closedPort}`, from: FROM } },
        }),
      says: /isn't set/,
    },
  ],
  dashboard_url_unencrypted: [
    {
      name: "it begins with http:// and is not this machine",
      provoke: (world) => world.examine({ dashboard: { base_url: "http://dashboard.example.com" } }),
      says: /isn't encrypted/,
    },
  ],
  dashboard_url_elsewhere: [
    {
      name: "something else answers there",
      provoke: (world) => examineElsewhere(world, (url) => ({ dashboard: { base_url: url } })),
      says: /returned 404, which isn't the response of the dashboard/,
    },
  ],
  dashboard_url_unreachable: [
    {
      name: "nothing listens there",
      provoke: (world) => world.examine({ dashboard: { base_url: `http://127.0.0.1:${world.closedPort}` } }),
      says: /can't be reached: .*ECONNREFUSED/,
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
