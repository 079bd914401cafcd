import { request } from "node:http";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { ENVOY_ADMIN_SOCKET_NAME } from "../../envoy/names.ts";

const TIMEOUT_MS = 3_000;
const MAX_ANSWER_BYTES = 32 * 1024 ** 2;

export function envoyAdminSocket({ sidecar }: Config): string {
  return join(sidecar.sockets, ENVOY_ADMIN_SOCKET_NAME);
}

/** Returns the response of Envoy's admin interface to a GET. */
export function readEnvoyAdmin(config: Config, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const target = { socketPath: envoyAdminSocket(config), path, timeout: TIMEOUT_MS };
    const call = request(target, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        if (text.length > MAX_ANSWER_BYTES) call.destroy(new Error("its response is too large"));
      });
      response.once("end", () => resolve(text));
      response.once("error", reject);
    });
    call.once("timeout", () => call.destroy(new Error(`no response in ${TIMEOUT_MS / 1000} s`)));
    call.once("error", reject);
    call.end();
  });
}
