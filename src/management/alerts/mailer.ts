/** Email by SMTP through the operator's mail server, one message per connection at a time. */
import { isLoopback } from "../../shared/host/local-url.ts";
import type { Config } from "../../shared/config/schema.ts";
import { requireInTime } from "../../shared/event-loop/wait.ts";

export type SmtpSettings = NonNullable<Config["notifications"]["smtp"]>;

export interface Mail {
  /** Recipients shown in the email. */
  readonly to: readonly string[];
  /** Recipients of this attempt. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Without angle brackets. The same in every attempt, so that duplicates are recognizable. */
  readonly messageId: string;
}

export interface RefusedRecipient {
  readonly address: string;
  readonly reason: string;
  /** True if the server reports that another attempt would fail as well. */
  readonly isPermanent: boolean;
}

/** `refused` is empty if all recipients got it. */
export interface MailResult {
  readonly accepted: readonly string[];
  readonly refused: readonly RefusedRecipient[];
}

export interface Mailer {
  /** Takes at most 30 s. @throws Error if the server is unreachable or rejects the login. */
  send(mail: Mail): Promise<MailResult>;
  /** Connects and logs in without sending. Takes at most 30 s. @throws Error like `send`. */
  verify(): Promise<void>;
  close(): void;
}

export interface MailerOptions {
  /** PEM, in place of Node's; for tests. */
  readonly certificateAuthorities?: string;
}

const SEND_BOUND_MS = 30_000;
/** Timeout for each step of the conversation. */
const STEP_TIMEOUT_MS = 10_000;
/** Modest number for one mail server. */
const MAX_CONNECTIONS = 4;
const PERMANENT = 500;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 };
/** Steps in which a rejection concerns the message: MAIL, RCPT and DATA. */
const ABOUT_THE_MESSAGE: ReadonlySet<string> = new Set(["EENVELOPE", "EMESSAGE"]);

export function createMailer(settings: SmtpSettings, options: MailerOptions = {}): Mailer {
  let current: { readonly password: string | null; readonly transport: Promise<MailTransport> } | null = null;
  const connect = (): Promise<MailTransport> => {
    // Read for each email: a renewed file takes effect at once.
    const password = settings.password?.reveal() ?? null;
    if (current === null || current.password !== password) {
      closeTransport(current?.transport);
      current = { password, transport: createPool(settings, password, options) };
    }
    return current.transport;
  };
  return {
    async send(mail) {
      return answerInTime(connect().then((transport) => transport.sendMail(formatMail(mail, settings.from))))
        .catch((error: unknown) => {
          throw withoutCredentials(error, settings.username, current?.password ?? null);
        })
        .then(
          (info) => readResult(mail, info),
          (error: unknown) => readFailure(mail, error),
        );
    },
    async verify() {
      await answerInTime(connect().then((transport) => transport.verify())).catch((error: unknown) => {
        throw withoutCredentials(error, settings.username, current?.password ?? null);
      });
    },
    close: () => closeTransport(current?.transport),
  };
}

type MailTransport = Awaited<ReturnType<typeof createPool>>;

async function createPool({ url, username }: SmtpSettings, password: string | null, options: MailerOptions) {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const { certificateAuthorities } = options;
  const auth = username === null || password === null ? null : { user: username, pass: password };
  // Loaded for the first email, since most gateways never send one.
  const { createTransport } = await import("nodemailer");
  return createTransport({
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    host,
    port: port === "" ? (DEFAULT_PORTS[protocol] ?? 587) : Number(port),
    secure: protocol === "smtps:",
    // A password is never sent unencrypted, except to this host.
    requireTLS: protocol === "smtp:" && auth !== null && !isLoopback(host),
    ...(auth === null ? {} : { auth }),
    ...(certificateAuthorities === undefined ? {} : { tls: { ca: certificateAuthorities } }),
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** A transport that failed to load needs no closing. */
function closeTransport(transport: Promise<MailTransport> | undefined): void {
  transport?.then(
    (made) => made.close(),
    () => undefined,
  );
}

/** Removes credentials: a server may repeat them, plain or encoded, and errors are logged and shown. */
function withoutCredentials(error: unknown, username: string | null, password: string | null): unknown {
  if (!(error instanceof Error) || password === null || password === "") return error;
  const encoded = [password, `\0${username}\0${password}`].map((text) =>
    Buffer.from(text).toString("base64"),
  );
  const clean = (text: string): string =>
    [...encoded, password].reduce((redacted, secret) => redacted.replaceAll(secret, "[redacted]"), text);
  const { response } = error as SmtpError;
  return Object.assign(error, {
    message: clean(error.message),
    stack: clean(error.stack ?? ""),
    ...(typeof response === "string" ? { response: clean(response) } : {}),
  });
}

function formatMail(mail: Mail, from: string) {
  return {
    from,
    // Objects are used unchanged; texts would be parsed as lists.
    to: mail.to.map((address) => ({ name: "", address })),
    envelope: { from: addressOf(from), to: [...mail.recipients] },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: `<${mail.messageId}@${addressOf(from).split("@")[1] ?? "localhost"}>`,
    // RFC 3834: suppresses automatic replies.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

/** Converts "Gateway <gateway@example.com>" to "gateway@example.com". */
function addressOf(from: string): string {
  return /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
}

function answerInTime<Result>(sent: Promise<Result>): Promise<Result> {
  return requireInTime(sent, SEND_BOUND_MS, "the mail server took too long");
}

interface SmtpError {
  readonly code?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly recipient?: unknown;
  readonly rejectedErrors?: unknown;
}

function readResult(mail: Mail, info: SmtpError): MailResult {
  const refused = readRefused(info.rejectedErrors);
  const addresses = new Set(refused.map(({ address }) => address));
  return { accepted: mail.recipients.filter((address) => !addresses.has(address)), refused };
}

/** Returns rejections of the message as a result; all other errors are rethrown. */
function readFailure(mail: Mail, error: unknown): MailResult {
  const { code, responseCode, rejectedErrors } = error as SmtpError;
  if (!ABOUT_THE_MESSAGE.has(String(code)) || typeof responseCode !== "number") throw error;
  const refused = readRefused(rejectedErrors);
  if (refused.length === mail.recipients.length) return { accepted: [], refused };
  const reason = describeResponse(error as SmtpError);
  const isPermanent = responseCode >= PERMANENT;
  return { accepted: [], refused: mail.recipients.map((address) => ({ address, reason, isPermanent })) };
}

function readRefused(errors: unknown): RefusedRecipient[] {
  const all: readonly SmtpError[] = Array.isArray(errors) ? errors : [];
  return all.map((error) => ({
    address: String(error.recipient),
    reason: describeResponse(error),
    isPermanent: Number(error.responseCode) >= PERMANENT,
  }));
}

/** Formats "550 5.1.1 no such user", at most one line. */
function describeResponse({ response, responseCode }: SmtpError): string {
  const text = typeof response === "string" ? response : String(responseCode);
  return text.replace(/[^\x20-\x7e]+/g, " ").slice(0, 200);
}
