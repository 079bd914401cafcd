/** Upstreams of the bootstrap that is shipped: credentials that are renewed, and certificates. */
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/shared/config/load.ts";
import { writeUpstreamSecrets } from "../../src/envoy/bootstrap/upstream-secrets.ts";
import { createTestAuthority } from "../support/tls.ts";
import { startEdge } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";
import { waitFor } from "./edge/envoy-process.ts";
import { send } from "./edge/raw-client.ts";
import { passOn, route } from "./edge/sidecar-stand-in.ts";

const CHAT = "/v1/chat/completions";
const AUTHORIZED = { authorization: "Bearer good" };

describe("a renewed upstream credential", () => {
  it("is used without a restart, and its file is the owner's alone", async () => {
    const edge = await startEdge();
    try {
      const secrets = join(edge.config.sidecar.sockets, "secrets");
      const renewed = renderableConfig(edge, { MAIN_KEY: "renewed-secret" });
      expect(await writeUpstreamSecrets(renewed, secrets)).toEqual(["main"]);
      expect(await writeUpstreamSecrets(renewed, secrets)).toEqual([]);
      expect(statSync(join(secrets, "main.yaml")).mode & 0o777).toBe(0o600);
      expect(readdirSync(secrets)).toEqual(["main.yaml"]);
      await waitFor("the renewed credential is used", async () => {
        await send(edge.port, "POST", CHAT, AUTHORIZED, "{}");
        return edge.upstream.requests.at(-1)?.headers.authorization === "Bearer renewed-secret";
      });
    } finally {
      await edge.stop();
    }
  });
});

describe("credentials in headers of their own", () => {
  it("are sent as they are configured, and never what a client has in such a header", async () => {
    const edge = await startEdge({
      env: { AZURE_KEY: "azure-secret", ORGANIZATION: "org-of-ours", TOKEN: "token-secret" },
      upstreams: [
        '{name: azure, url: "http://127.0.0.1:UPSTREAM_PORT", credential: {env: AZURE_KEY, header: Api-Key}}',
        '{name: several, url: "http://127.0.0.1:UPSTREAM_PORT", credentials: [{env: TOKEN, prefix: "Token "}, ' +
          "{env: ORGANIZATION, header: openai-organization}, {env: AZURE_KEY, header: x-account}]}",
      ],
    });
    const theirs = {
      ...AUTHORIZED,
      "api-key": "of the client",
      "x-account": "of the client",
      "openai-organization": "of the client",
      "x-goog-api-key": "of the client",
      "proxy-authorization": "of the client",
    };
    const headersAt = async (name: string) => {
      edge.sidecar.onProcess = (message) =>
        message.request_body ? route(message, name, CHAT) : passOn(message);
      const answer = await send(edge.port, "POST", `${CHAT}?api-key=of-the-client`, theirs, "{}");
      expect(answer.status).toBe(200);
      return edge.upstream.requests.at(-1)!;
    };
    try {
      const azure = await headersAt("azure");
      expect(azure.headers).toMatchObject({ "api-key": "azure-secret" });
      expect(azure.headers).not.toHaveProperty("authorization");
      expect(azure.path).toBe(CHAT);
      const several = await headersAt("several");
      expect(several.headers).toMatchObject({
        authorization: "Token token-secret",
        "openai-organization": "org-of-ours",
        "x-account": "azure-secret",
      });
      expect(JSON.stringify(several.headers)).not.toContain("of the client");
      expect(readdirSync(join(edge.config.sidecar.sockets, "secrets")).sort()).toEqual([
        "azure.api-key.yaml",
        "main.yaml",
        "several.openai-organization.yaml",
        "several.x-account.yaml",
        "several.yaml",
      ]);
    } finally {
      await edge.stop();
    }
  });
});

describe("an https upstream", () => {
  it("is reached by the name in its URL and refused with another's certificate", async () => {
    const authority = await createTestAuthority();
    const folder = mkdtempSync(join(tmpdir(), "igw-tls-"));
    const names: (string | undefined)[] = [];
    const start = async (...alternatives: string[]) => {
      const server = createServer(await authority.issue("upstream", alternatives), (request, response) => {
        names.push((request.socket as { servername?: string }).servername);
        response.end("{}");
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return {
        port: (server.address() as AddressInfo).port,
        close: () => void server.close(),
        closeConnections: () => server.closeAllConnections(),
      };
    };
    const [named, address, other] = await Promise.all([
      start("localhost"),
      start("IP:127.0.0.1"),
      start("other.example"),
    ]);
    const caFile = join(folder, "ca.pem");
    writeFileSync(caFile, authority.ca);
    const tls = await startEdge({
      upstreams: [
        `{name: named, url: "https://localhost:${named.port}", tls: {ca_file: ${caFile}}}`,
        `{name: address, url: "https://127.0.0.1:${address.port}", tls: {ca_file: ${caFile}}}`,
        `{name: other, url: "https://localhost:${other.port}", tls: {ca_file: ${caFile}}}`,
        `{name: untrusted, url: "https://localhost:${named.port}"}`,
      ],
    });
    try {
      const statusOf = async (name: string): Promise<number> => {
        tls.sidecar.onProcess = (message) =>
          message.request_body ? route(message, name, CHAT) : passOn(message);
        return (await send(tls.port, "POST", CHAT, AUTHORIZED, "{}")).status;
      };
      expect(await statusOf("named")).toBe(200);
      expect(await statusOf("address")).toBe(200);
      expect(names[0]).toBe("localhost");
      expect(await statusOf("other")).toBe(503);
      expect(await statusOf("untrusted")).toBe(503);
      expect(names).toHaveLength(2);
      // Renewed by a rename, as certificate managers do it: another authority, which the server's certificate is not of.
      const next = await createTestAuthority();
      await next.close();
      writeFileSync(`${caFile}.new`, next.ca);
      renameSync(`${caFile}.new`, caFile);
      named.closeConnections();
      await waitFor("the new authorities", async () => (await statusOf("named")) === 503);
    } finally {
      await tls.stop();
      for (const server of [named, address, other]) server.close();
      await authority.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** The edge's configuration with other secrets. */
function renderableConfig(running: Edge, env: Record<string, string>): ReturnType<typeof parseConfig> {
  return parseConfig(readFileSync(join(running.folder, "gateway.yaml"), "utf8"), {
    baseDir: running.folder,
    env,
  });
}
