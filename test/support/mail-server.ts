/** A mail server on loopback that keeps what it was given, and refuses what the test says. */
import type { AddressInfo } from "node:net";
import { callbackify } from "node:util";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerSession } from "smtp-server";
import type { KeyPair } from "./tls.ts";

export interface ReceivedMail {
  readonly from: string;
  /** Of the envelope. */
  readonly recipients: readonly string[];
  readonly secure: boolean;
  readonly user: string | null;
  readonly mail: Email;
  readonly raw: string;
}

export interface MailServer {
  readonly url: string;
  readonly port: number;
  readonly received: ReceivedMail[];
  /** An SMTP reply code for this recipient, or null to take it. */
  refuseRecipient: (address: string) => number | null;
  /** An SMTP reply code for the whole message, or null to take it. */
  refuseMessage: () => number | null;
  close(): Promise<void>;
}

export interface MailServerOptions {
  /** `tls`: from the first byte. `starttls`: offered. Without a certificate neither. */
  readonly security?: { readonly mode: "tls" | "starttls"; readonly keyPair: KeyPair };
  readonly login?: { readonly user: string; readonly password: string };
}

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { security, login } = options;
  const received: ReceivedMail[] = [];
  const fail = (code: number): Error =>
    Object.assign(new Error("refused by the test"), { responseCode: code });
  const keep = callbackify(async (raw: Buffer, { envelope, secure, user }: SMTPServerSession) => {
    const code = mailServer.refuseMessage();
    if (code !== null) throw fail(code);
    received.push({
      from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
      recipients: envelope.rcptTo.map(({ address }) => address),
      secure,
      user: user === undefined ? null : String(user),
      mail: await PostalMime.parse(raw),
      raw: raw.toString("latin1"),
    });
  });
  const server = new SMTPServer({
    ...(security === undefined ? { hideSTARTTLS: true } : security.keyPair),
    secure: security?.mode === "tls",
    authOptional: login === undefined,
    disabledCommands: [
      ...(login === undefined ? ["AUTH"] : []),
      ...(security === undefined ? ["STARTTLS"] : []),
    ],
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, callback) => {
      const isRight = username === login?.user && password === login?.password;
      callback(isRight ? null : fail(535), isRight ? { user: String(username) } : undefined);
    },
    onRcptTo: ({ address }, _session, callback) => {
      const code = mailServer.refuseRecipient(address);
      callback(code === null ? null : fail(code));
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        keep(Buffer.concat(chunks), session, (error) => callback(error));
      });
    },
  });
  // A client that goes away in mid-conversation.
  server.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve());
  });
  const { port } = server.server.address() as AddressInfo;
  const mailServer: MailServer = {
    url: `${security?.mode === "tls" ? "smtps" : "smtp"}://127.0.0.1:${port}`,
    port,
    received,
    refuseRecipient: () => null,
    refuseMessage: () => null,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
  return mailServer;
}
