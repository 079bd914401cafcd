/** A real API server with etcd behind it: it checks what is applied, and runs nothing. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { waitFor } from "../support/wait.ts";
import { run } from "./find-tool.ts";

/** `build-kubernetes.sh` builds what is in it. */
const FOLDER = fileURLToPath(new URL("../../.tools/kubernetes-1.36.3", import.meta.url));
const BUILD = fileURLToPath(new URL("build-kubernetes.sh", import.meta.url));
/** Set where nothing may be skipped: then it is built. */
const REQUIRED = "REQUIRE_KUBERNETES";
const ADMIN_TOKEN = "test-token";
/** Of the tokens of its service accounts. */
export const ISSUER = "https://kubernetes.default.svc";

export interface ApiServer {
  /** `kubectl` against it. Never rejects. */
  kubectl(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  readonly kubeconfig: string;
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  /** PEM of the authority that its certificate is of, and a file with the token of an administrator. */
  readonly caFile: string;
  readonly tokenFile: string;
  stop(): Promise<void>;
}

/** Why there is no API server here, or null. With `REQUIRE_KUBERNETES` it is built first, which takes minutes. */
export function findKubernetes(): string | null {
  if (process.env[REQUIRED]) execFileSync("bash", [BUILD, FOLDER], { stdio: "inherit" });
  const missing = ["kube-apiserver", "kubectl", "crds"].find((name) => !existsSync(join(FOLDER, name)));
  const hasEtcd =
    existsSync(join(FOLDER, "etcd")) || spawnSync("etcd", ["--version"], { timeout: 10_000 }).status === 0;
  if (missing === undefined && hasEtcd) return null;
  const reason = `no Kubernetes API server in .tools (${missing ?? "etcd"} is missing): \`${REQUIRED}=1\` builds it, which takes minutes`;
  process.stderr.write(`skipped, ${reason}\n`);
  return reason;
}

/** Starts one on loopback, with the CRDs of the tests. */
export async function startApiServer(): Promise<ApiServer> {
  const dir = mkdtempSync(join(tmpdir(), "igw-kube-"));
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    // The API server first: without its etcd it would hang.
    for (const child of children.toReversed()) await child.stop(15_000).catch(() => undefined);
    rmSync(dir, { recursive: true, force: true });
  };
  const kubeconfig = join(dir, "kubeconfig");
  const kubectl = (...args: readonly string[]) =>
    run(join(FOLDER, "kubectl"), ["--kubeconfig", kubeconfig, "--cache-dir", join(dir, "cache"), ...args]);
  try {
    const etcdUrl = await startEtcd(dir, children);
    const port = await findFreePort();
    writeFileSync(kubeconfig, formatKubeconfig(port));
    children.push(startKubeApiServer(dir, etcdUrl, port));
    const isReady = async () => {
      const ended = children.find((child) => child.ended !== null);
      if (ended !== undefined) throw new Error(ended.stderr.slice(-4_000));
      return (await kubectl("get", "--raw", "/readyz")).code === 0;
    };
    await waitFor("the API server", isReady, { timeoutMs: 90_000, intervalMs: 250 });
    await applyCrds(kubectl);
    const tokenFile = join(dir, "token");
    writeFileSync(tokenFile, ADMIN_TOKEN, { mode: 0o600 });
    const caFile = join(dir, "certificates/apiserver.crt");
    return { kubectl, kubeconfig, url: `https://127.0.0.1:${port}`, caFile, tokenFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function applyCrds(kubectl: ApiServer["kubectl"]): Promise<void> {
  const files = readdirSync(join(FOLDER, "crds")).flatMap((name) => ["-f", join(FOLDER, "crds", name)]);
  const applied = await kubectl("apply", "--server-side", ...files);
  if (applied.code !== 0) throw new Error(applied.stderr);
  const wait = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=50s"];
  const established = await kubectl(...wait);
  if (established.code !== 0) throw new Error(established.stderr);
}

async function startEtcd(dir: string, children: Child[]): Promise<string> {
  const [client, peer] = [await findFreePort(), await findFreePort()].map(
    (port) => `http://127.0.0.1:${port}`,
  ) as [string, string];
  const own = join(FOLDER, "etcd");
  const listen = ["--listen-client-urls", client, "--advertise-client-urls", client];
  const peers = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer];
  const cluster = ["--initial-cluster", `default=${peer}`];
  children.push(
    startChild(existsSync(own) ? own : "etcd", [
      "--data-dir",
      join(dir, "etcd"),
      ...listen,
      ...peers,
      ...cluster,
    ]),
  );
  return client;
}

function startKubeApiServer(dir: string, etcdUrl: string, port: number): Child {
  const key = join(dir, "service-accounts.key");
  execFileSync("openssl", ["genrsa", "-out", key, "2048"], { stdio: "ignore", timeout: 20_000 });
  const tokens = join(dir, "tokens.csv");
  writeFileSync(tokens, `${ADMIN_TOKEN},admin,1,system:masters\n`);
  return startChild(join(FOLDER, "kube-apiserver"), [
    `--etcd-servers=${etcdUrl}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${join(dir, "certificates")}`,
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    `--service-account-issuer=${ISSUER}`,
    `--token-auth-file=${tokens}`,
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--disable-admission-plugins=ServiceAccount",
  ]);
}

function formatKubeconfig(port: number): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "local", cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } },
    ],
    users: [{ name: "admin", user: { token: ADMIN_TOKEN } }],
    contexts: [{ name: "local", context: { cluster: "local", user: "admin" } }],
    "current-context": "local",
  });
}
