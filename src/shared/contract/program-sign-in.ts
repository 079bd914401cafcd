/**
 * How a program gets a session of whoever signs in to the dashboard in a browser beside it, in the words that both share.
 * The program makes a secret (`verifier`) and names its SHA-256 (`challenge`) in the address that the browser opens; the
 * dashboard makes a `code` and sends the browser with it to the program's own port on loopback. Only both together are the
 * session's token: the browser's history has no secret, and who sends somebody an address of their own gets no code.
 * @see RFC 8252, section 7.3, and RFC 7636, section 4.2.
 */
import { createHash, randomBytes } from "node:crypto";

const PREFIX = "igw_session_";
/** 32 bytes in base64url. */
const PART = "[A-Za-z0-9_-]{43}";
const TOKEN = new RegExp(`^${PREFIX}(${PART})\\.(${PART})$`);
const WHOLE_PART = new RegExp(`^${PART}$`);
/** Ports that need no rights of the system's. */
const PORT =
  /^(?:102[4-9]|10[3-9]\d|1[1-9]\d\d|[2-9]\d{3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/;
const DISPLAYED_CHARACTERS = 8;

/** The dashboard's page, and its parameters. */
export const PROGRAM_PAGE = "/command-line";

export interface ProgramRequest {
  readonly challenge: string;
  /** Where on 127.0.0.1 the program waits. */
  readonly port: number;
  /** The program's own, which comes back to it. */
  readonly state: string;
}

export function createPart(): string {
  return randomBytes(32).toString("base64url");
}

export function isPart(text: string): boolean {
  return WHOLE_PART.test(text);
}

export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

/** What page and terminal show, so that people see that it is their own. */
export function displayChallenge(challenge: string): string {
  const digest = createHash("sha256").update(challenge).digest("hex").toUpperCase();
  return `${digest.slice(0, DISPLAYED_CHARACTERS / 2)}-${digest.slice(DISPLAYED_CHARACTERS / 2, DISPLAYED_CHARACTERS)}`;
}

export function formatProgramPage({ challenge, port, state }: ProgramRequest): string {
  return `${PROGRAM_PAGE}?${new URLSearchParams({ challenge, port: String(port), state }).toString()}`;
}

/** Null: it is none of a program. */
export function parseProgramRequest(parameters: {
  get: (name: string) => string | null;
}): ProgramRequest | null {
  const [challenge, port, state] = ["challenge", "port", "state"].map((name) => parameters.get(name) ?? "");
  if (challenge === undefined || port === undefined || state === undefined) return null;
  if (!isPart(challenge) || !PORT.test(port) || !isPart(state)) return null;
  return { challenge, port: Number(port), state };
}

/** Where the browser returns to: loopback by its number, since a name could lead elsewhere. */
export function formatReturn({ port, state }: Omit<ProgramRequest, "challenge">, code: string): string {
  return `http://127.0.0.1:${port}/?${new URLSearchParams({ code, state }).toString()}`;
}

export function formatProgramToken(verifier: string, code: string): string {
  return `${PREFIX}${verifier}.${code}`;
}

export function isProgramToken(text: string): boolean {
  return TOKEN.test(text);
}

/** SHA-256 of a session, by its token. Null: it has not the form of one. */
export function hashProgramToken(token: string): string | null {
  const [, verifier, code] = TOKEN.exec(token) ?? [];
  return verifier === undefined || code === undefined ? null : hashProgram(challengeOf(verifier), code);
}

/** The same, for who has not the verifier. Never that of a browser's session. */
export function hashProgram(challenge: string, code: string): string {
  return createHash("sha256").update(`program ${challenge}.${code}`).digest("hex");
}
