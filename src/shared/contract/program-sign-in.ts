/**
 * Sign-in of a program through a dashboard session in a browser on the same host. The program makes a secret
 * (`verifier`) and puts its SHA-256 (`challenge`) into the address that the browser opens; the dashboard
 * makes a `code` and redirects the browser with it to the program's loopback port. Only both together are the
 * session's token: the browser's history has no secret, and an attacker who sends someone a link gets no
 * code.
 * @see RFC 8252, section 7.3, and RFC 7636, section 4.2.
 */
import { createHash, randomBytes } from "node:crypto";

const PREFIX = "igw_session_";
/** Form of 32 bytes in base64url. */
const PART = "[A-Za-z0-9_-]{43}";
const TOKEN = new RegExp(`^${PREFIX}(${PART})\\.(${PART})$`);
const WHOLE_PART = new RegExp(`^${PART}$`);
/** Unprivileged ports. */
const PORT =
  /^(?:102[4-9]|10[3-9]\d|1[1-9]\d\d|[2-9]\d{3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/;
const DISPLAYED_CHARACTERS = 8;

/** Dashboard page, and its parameters. */
export const PROGRAM_PAGE = "/command-line";

export interface ProgramRequest {
  readonly challenge: string;
  /** Port on 127.0.0.1 where the program waits. */
  readonly port: number;
  /** Value of the program, returned to it. */
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

/** Formats the text that page and terminal show, so that people can compare them. */
export function displayChallenge(challenge: string): string {
  const digest = createHash("sha256").update(challenge).digest("hex").toUpperCase();
  return `${digest.slice(0, DISPLAYED_CHARACTERS / 2)}-${digest.slice(DISPLAYED_CHARACTERS / 2, DISPLAYED_CHARACTERS)}`;
}

export function formatProgramPage({ challenge, port, state }: ProgramRequest): string {
  return `${PROGRAM_PAGE}?${new URLSearchParams({ challenge, port: String(port), state }).toString()}`;
}

/** Parses the parameters; null if they are not from a program. */
export function parseProgramRequest(parameters: {
  get: (name: string) => string | null;
}): ProgramRequest | null {
  const [challenge, port, state] = ["challenge", "port", "state"].map((name) => parameters.get(name) ?? "");
  if (challenge === undefined || port === undefined || state === undefined) return null;
  if (!isPart(challenge) || !PORT.test(port) || !isPart(state)) return null;
  return { challenge, port: Number(port), state };
}

/**
 * Returns the address to which the browser returns: a numeric loopback address, since a name could resolve
 * elsewhere.
 */
export function formatReturn({ port, state }: Omit<ProgramRequest, "challenge">, code: string): string {
  return `http://127.0.0.1:${port}/?${new URLSearchParams({ code, state }).toString()}`;
}

export function formatProgramToken(verifier: string, code: string): string {
  return `${PREFIX}${verifier}.${code}`;
}

export function isProgramToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns the SHA-256 of a session's token; null if it is malformed. */
export function hashProgramToken(token: string): string | null {
  const [, verifier, code] = TOKEN.exec(token) ?? [];
  return verifier === undefined || code === undefined ? null : hashProgram(challengeOf(verifier), code);
}

/** Returns the same without the verifier. Never equals a hash of a browser's session. */
export function hashProgram(challenge: string, code: string): string {
  return createHash("sha256").update(`program ${challenge}.${code}`).digest("hex");
}
