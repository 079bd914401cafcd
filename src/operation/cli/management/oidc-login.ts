/**
 * `login --oidc`: a sign-in in the browser that authorizes this program. The browser opens a page of the
 * dashboard, which leads to the identity provider and, once the user confirms, back to a loopback port of
 * this program.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  challengeOf,
  createPart,
  displayChallenge,
  formatProgramPage,
  formatProgramToken,
  isPart,
} from "../../../shared/contract/program-sign-in.ts";
import { CommandError } from "./command-error.ts";

/** Same as the time for a sign-in at a provider. */
const WAIT_MS = 900_000;

export interface OidcLogin {
  /** Base URL of the dashboard, without a final slash. */
  readonly url: string;
  readonly opensBrowser: boolean;
  /** Prints a text for the user. */
  readonly write: (text: string) => void;
}

/** Returns the session's token. @throws CommandError if nobody has signed in within 15 minutes. */
export async function signInByBrowser({ url, opensBrowser, write }: OidcLogin): Promise<string> {
  const [verifier, state] = [createPart(), createPart()];
  const challenge = challengeOf(verifier);
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const page = url + formatProgramPage({ challenge, port, state });
    write(
      `Sign in with your browser, on this machine:\n\n  ${page}\n\n` +
        `Allow it there if the page shows the code ${displayChallenge(challenge)}. Waiting …\n`,
    );
    if (opensBrowser) openBrowser(page);
    return formatProgramToken(verifier, await waitForCode(server, state));
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function waitForCode(server: Server, state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new CommandError("No sign-in within 15 minutes. Run `inference-gateway login --oidc` again."));
    }, WAIT_MS);
    server.on("request", (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
      const code = searchParams.get("code") ?? "";
      // Others who find the port, such as another page in the browser, do not know the state.
      if (
        request.method !== "GET" ||
        pathname !== "/" ||
        searchParams.get("state") !== state ||
        !isPart(code)
      ) {
        answer(response, 404, "This is not the sign-in that inference-gateway waits for.");
        return;
      }
      clearTimeout(timer);
      // The server closes once the response is sent.
      answer(response, 200, "Signed in. You can close this page and go back to the terminal.", () =>
        resolve(code),
      );
    });
  });
}

function answer(response: ServerResponse, status: number, text: string, done?: () => void): void {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  };
  response.writeHead(status, headers).end(`${text}\n`, done);
}

/** Opens the browser if possible; the address is also printed. */
function openBrowser(page: string): void {
  const [program = "", ...rest] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["explorer.exe"] : ["xdg-open"];
  const child = spawn(program, [...rest, page], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
