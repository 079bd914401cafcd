/** Findings about upstreams as Envoy sees them: a running gateway with endpoints, health checks and a credential. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../../../src/shared/config/load.ts";
import { checkUpstreamState } from "../../../src/operation/doctor/check-upstream-state.ts";
import { CHAT_PATH, chatBody } from "../../support/chat-stack.ts";
import { CHAT_MODEL } from "../../support/gateway-config.ts";
import { openaiError } from "../../support/scripted-answer.ts";
import { startUpstream } from "../../support/upstream.ts";
import { waitFor } from "../../support/wait.ts";
import { getRunning, OTHER_MODEL } from "./process-faults.ts";
import type { DoctorWorld, Provocation, Report } from "./provocation.ts";

/** An upstream of which all endpoints, or one, fail their health check. */
async function examineEndpoints(world: DoctorWorld, code: string): Promise<Report> {
  const { stack } = await getRunning(world);
  const config = loadConfig(stack.configFile, { secrets: "own" });
  const isSeen = async (): Promise<boolean> =>
    (await checkUpstreamState(config)).some((finding) => finding.code === code);
  await waitFor("Envoy's health checks", isSeen, { timeoutMs: 60_000 });
  return await world.examineFile(stack.configFile);
}

async function examineRefusal(
  world: DoctorWorld,
  given: number,
  said = "who are you?",
  { count = 1, model = CHAT_MODEL } = {},
): Promise<Report> {
  const { stack, upstream } = await getRunning(world);
  upstream.answer({ kind: "json", status: given, body: openaiError(said) });
  for (let sent = 0; sent < count; sent++) {
    const { status } = await stack.send({ path: CHAT_PATH, body: chatBody({ model }) });
    if (status !== 502) throw new Error(`expected a 502 for the upstream's ${given}, found ${status}`);
  }
  return await world.examineFile(stack.configFile);
}

/** A server of which nothing but its list of models is asked. */
async function examineListing(world: DoctorWorld, data: readonly object[], server?: string): Promise<Report> {
  const upstream = await startUpstream();
  try {
    upstream.answer({ kind: "json", body: { object: "list", data } });
    const named = server === undefined ? {} : { server };
    return await world.examine({
      upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1", ...named }],
    });
  } finally {
    await upstream.close();
  }
}

function examineCredential(world: DoctorWorld, text: string | null): Promise<Report> {
  const url = `http://127.0.0.1:${world.closedPort}`;
  const upstreams = [{ name: "local", url, credential: { file: "credential.txt" } }];
  return world.examine({ upstreams }, async (folder) => {
    if (text !== null) await writeFile(join(folder, "credential.txt"), text);
  });
}

export const UPSTREAM_FAULTS = {
  upstream_credential_missing: [
    {
      name: "its file is not there",
      provoke: (world) => examineCredential(world, null),
      says: /The credential of local for `authorization` can't be read: .*credential\.txt does not exist/,
    },
    {
      name: "its file is empty",
      provoke: (world) => examineCredential(world, "\n"),
      says: /credential\.txt is not set or empty/,
    },
    {
      name: "its variable is not set",
      provoke: (world) =>
        world.examine({
          upstreams: [
            {
              name: "local",
              url: `http://127.0.0.1:${world.closedPort}`,
              credential: { env: "T_NOT_SET", header: "api-key" },
            },
          ],
        }),
      says: /The credential of local for `api-key` can't be read: .*`T_NOT_SET` is not set or empty/,
    },
  ],
  upstream_refuses_credential: [
    {
      name: "it answers 401",
      provoke: (world) => examineRefusal(world, 401),
      says: /Upstream local has returned 401 \(1×\) since Envoy's start/,
    },
  ],
  upstream_model_unknown: [
    {
      name: "it answers 404",
      provoke: (world) => examineRefusal(world, 404, "The model `echo-7b` does not exist.", { count: 2 }),
      says: /^acme\/echo-small \(`.+` at local\): the server rejected 2 requests with 404 \(unknown model or path\)/m,
    },
  ],
  upstream_refuses_account: [
    {
      name: "it answers 429 since its account is empty",
      provoke: (world) =>
        examineRefusal(world, 429, "You exceeded your current quota.", { model: OTHER_MODEL }),
      says: /the server rejected 1 request because of the gateway's account/,
    },
  ],
  model_server_unnamed: [
    {
      name: "Ollama serves, and the file does not say so",
      provoke: (world) => examineListing(world, [{ id: "echo", owned_by: "library" }]),
      says: /^Upstream local is Ollama by its list of models, and `server` isn't set\.$/m,
    },
    {
      name: "llama.cpp serves where vLLM was written",
      provoke: (world) => examineListing(world, [{ id: "echo", owned_by: "llamacpp" }], "vllm"),
      says: /is llama\.cpp's `llama-server` by its list of models, and `server` says `vllm`\.$/m,
    },
  ],
  upstream_model_unlisted: [
    {
      name: "the server has another",
      provoke: (world) => examineListing(world, [{ id: "other" }]),
      says: /^acme\/echo-small: the server of local lists no model `echo`\.$/m,
    },
  ],
  context_window_too_large: [
    {
      name: "the server was started with less",
      provoke: (world) =>
        examineListing(world, [{ id: "echo", meta: { n_ctx: 4_096, n_ctx_train: 131_072 } }]),
      says: /^acme\/echo-small: `context_window` is 128000, but the server accepts 4096 tokens\.$/m,
    },
  ],
  upstream_all_unhealthy: [
    {
      name: "the health check of each endpoint fails",
      provoke: (world) => examineEndpoints(world, "upstream_all_unhealthy"),
      says: /Envoy considers 2 of 2 endpoints of gone unhealthy: 127\.0\.0\.1:\d+ \(fails its health check\)/,
    },
  ],
  upstream_endpoint_unhealthy: [
    {
      name: "the health check of one endpoint fails",
      provoke: (world) => examineEndpoints(world, "upstream_endpoint_unhealthy"),
      says: /Envoy considers 1 of 2 endpoints of half unhealthy: 127\.0\.0\.2:\d+ \(fails its health check\)/,
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
