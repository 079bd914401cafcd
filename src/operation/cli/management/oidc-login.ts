/**
 * `login --oidc`: a sign-in in the browser, and what it gives this program. The browser opens a page of the dashboard, which
 * leads to the company's identity provider and, once it is allowed there, back to a port of this program on loopback.
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

/** As long as a provider is waited for in the browser. */
const WAIT_MS = 900_000;

export interface OidcLogin {
  /** Of the dashboard, without a slash at its end. */
  readonly url: string;
  readonly opensBrowser: boolean;
  /** Shown to people. */
  readonly write: (text: string) => void;
}

/** The token of the session. @throws CommandError when nobody has signed in for a quarter of an hour. */
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
      // Whoever else finds the port, a page in the browser too, does not know the state.
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
      // Once it is sent: the server ends then.
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

/** As far as the system has something for it: the address stands in the terminal, too. */
function openBrowser(page: string): void {
  const [program = "", ...rest] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["explorer.exe"] : ["xdg-open"];
  const child = spawn(program, [...rest, page], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
