/**
 * What the gateway calls, in a process of its own: the model server of all organizations, which counts what each request
 * has used, a mail server, and a receiver of webhooks that never answers.
 */
import { startMailServer, type MailServer } from "../support/mail-server.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";
import { type Account, type CountingUpstream, startCountingUpstream } from "../faults/counting-upstream.ts";
import { serveCalls } from "./helper-process.ts";

/** What became of one request there. */
export interface ServedRequest {
  /** The gateway's, as its log has it. */
  readonly requestId: string;
  readonly promptTokens: number;
  /** That were written. */
  readonly outputTokens: number;
  /** Of the body that it got. */
  readonly bytes: number;
}

export interface Started {
  readonly url: string;
  readonly smtpUrl: string;
  readonly silentUrl: string;
}

let upstream: CountingUpstream | null = null;
let mail: MailServer | null = null;

serveCalls({
  start: async (): Promise<Started> => {
    upstream = await startCountingUpstream();
    mail = await startMailServer();
    const silent = await startWebhookReceiver();
    silent.answer = () => new Promise(() => undefined);
    return { url: upstream.url, smtpUrl: mail.url, silentUrl: silent.url };
  },
  countEmails: () => mail?.received.length ?? 0,
  list: () => [...(upstream?.accounts.values() ?? [])].map(summarize),
});

function summarize({ requestId, bytes, order, tokenTimesMs }: Account): ServedRequest {
  return { requestId, bytes, promptTokens: order.promptTokens, outputTokens: tokenTimesMs.length };
}
