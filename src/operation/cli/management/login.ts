/** `login`, `logout`, `whoami`. They never print a token. */
import type { Command } from "commander";
import { isProgramToken } from "../../../shared/contract/program-sign-in.ts";
import { promptForSecret, isInteractive } from "../terminal/ask.ts";
import { formatFields } from "../terminal/table.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { CommandError, RefusedCall } from "./command-error.ts";
import {
  addAddressOptions,
  checkUrl,
  createClient,
  DEFAULT_URL,
  pickNamed,
  readNamedConnection,
} from "./connection.ts";
import { deleteLogin, storeLogin, type StoredLogin, loginFile, readStoredLogin } from "./stored-login.ts";
import { signInByBrowser } from "./oidc-login.ts";
import { addCommands, addExamples, type GlobalCommandRow } from "./management-command.ts";

/** Maximum length of the input that is read as a token. */
const MAX_INPUT_CHARACTERS = 4_096;
/** Statuses of an unknown session. */
const OVER: ReadonlySet<number> = new Set([401, 404]);

export function addLoginCommands(program: Command): void {
  const login = program
    .command("login")
    .description(
      "Check and store the management API's address and a management token, from --token-file, IGW_ADMIN_TOKEN, standard input or a prompt.",
    )
    .option("--oidc", "sign in with an identity provider (`dashboard.oidc`) instead of a token")
    .option("--no-browser", "with --oidc: print the address instead of opening a browser")
    .action(() => loginAction(login));
  addAddressOptions(login);
  addExamples(login, [
    "login",
    "login --admin-url https://gateway.example.com:10001",
    "login --token-file operator-token",
    "login --oidc --admin-url https://dashboard.example.com",
  ]);
  const logout = program
    .command("logout")
    .description("Delete the stored login, and end a sign-in with an identity provider.")
    .action(() => logoutAction());
  addExamples(logout, ["logout"]);
  addCommands(program, [whoami]);
}

const whoami: GlobalCommandRow = {
  usage: "whoami",
  description: "Show which management API, token and role the commands use.",
  examples: ["whoami", "whoami --json"],
  async run({ client, connection }) {
    const access = await readAccess(client);
    const { type, role, name, organization } = access;
    const json = {
      admin_url: connection.url,
      token_from: connection.source,
      role,
      token_name: type === "token" ? name : null,
      name: type === "person" ? name : null,
      organization: organization === null ? null : { id: organization["id"], name: organization["name"] },
    };
    const text = [
      ["address", connection.url],
      ["token from", connection.source],
      ["access", describeAccess(access)],
    ] as const;
    return { json, text: (screen) => formatFields(screen, text) };
  },
};

async function loginAction(command: Command): Promise<void> {
  const named = pickNamed(readNamedConnection(command));
  const url = checkUrl(named.url ?? DEFAULT_URL);
  const { oidc = false, browser } = command.opts<{ readonly oidc?: boolean; readonly browser: boolean }>();
  const token = oidc
    ? await signInByBrowser({ url, opensBrowser: browser, write: (text) => void process.stderr.write(text) })
    : (named.token ?? (await readToken(url)));
  const access = await readAccess(createClient({ url, token }));
  storeLogin({ url, token });
  process.stdout.write(
    `Logged in at ${url}: ${describeAccess(access)}.\n` +
      `Stored in ${loginFile()}, readable only by you; \`inference-gateway logout\` deletes it.\n`,
  );
}

async function logoutAction(): Promise<void> {
  const login = readForLogout();
  const isDeleted = deleteLogin();
  process.stdout.write(isDeleted ? `Deleted the login in ${loginFile()}.\n` : "There was no login.\n");
  if (login !== null && isProgramToken(login.token)) await endSignIn(login);
}

/** Returns null also for an unusable file, which is deleted anyway. */
function readForLogout(): StoredLogin | null {
  try {
    return readStoredLogin();
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

/** @throws CommandError if the session may still be active. */
async function endSignIn(login: StoredLogin): Promise<void> {
  try {
    await createClient(login).call("DELETE", "/api/session");
    process.stdout.write(`Ended the sign-in at ${login.url}.\n`);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (error instanceof RefusedCall && OVER.has(error.status)) {
      process.stdout.write(`The sign-in at ${login.url} had already ended.\n`);
      return;
    }
    throw new CommandError(
      `The sign-in at ${login.url} couldn't be ended: ${error.message}\n` +
        "It expires within 8 hours; an admin can end it on the dashboard's Sessions page.",
      { cause: error },
    );
  }
}

async function readToken(url: string): Promise<string> {
  const token = isInteractive()
    ? await promptForSecret(`Token for ${url} (it is not shown): `)
    : await readInput();
  if (token !== "") return token;
  throw new CommandError(
    "No token. Pass --token-file, set IGW_ADMIN_TOKEN, pipe it in, or run this in a terminal.",
  );
}

async function readInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length <= MAX_INPUT_CHARACTERS) continue;
    throw new CommandError("The input is too long for a token. Pipe in only the token.");
  }
  return text.trim();
}

/** Identity from `GET /api/whoami`, and number of accessible organizations. */
interface Access {
  readonly type: "operator" | "token" | "person";
  readonly role: "operator" | "admin" | "viewer" | "member";
  /** Name of the token or the person; null: the operator's token. */
  readonly name: string | null;
  /** The only accessible organization; null for the operator, who can access all. */
  readonly organization: JsonObject | null;
  readonly organizations: number;
}

/** @throws CommandError if the token is invalid, or the server unreachable. */
async function readAccess(client: AdminClient): Promise<Access> {
  const caller = (await client.call("GET", "/api/whoami")) as unknown as Omit<Access, "organizations">;
  const organizations = caller.organization === null ? await client.list("/api/organizations") : [null];
  return { ...caller, organizations: organizations.length };
}

/** Formats 'operator, 3 organizations', 'viewer of "Acme" by the token "report"'. */
function describeAccess({ type, role, name, organization, organizations }: Access): string {
  const person = type === "person" ? `, signed in as ${name}` : "";
  if (organization === null) {
    return `operator, ${organizations} organization${organizations === 1 ? "" : "s"}${person}`;
  }
  const by = type === "token" ? ` by the token "${name}"` : person;
  return `${role} of "${String(organization["name"])}"${by}`;
}
