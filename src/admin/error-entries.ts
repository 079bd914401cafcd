/** The error reference: an entry for each code, which is its text in the documentation and on the dashboard. */
import { ERRORS, type ErrorCode, GatewayError } from "../contract/errors.ts";
import { ADMIN_ERRORS, AdminError, type AdminErrorCode, adminEntryOf } from "./admin-error.ts";

export interface ErrorEntry {
  /** The fragment of its `doc_url`. */
  readonly id: string;
  readonly code: string;
  /** "503 / 529": the second is that of the messages routes. */
  readonly status: string;
  readonly type: string;
  /** What happened and what to do. */
  readonly message: string;
  /** Whether the same request can succeed later. */
  readonly canRetry: boolean;
}

/** A code that only model servers give a reason for. */
const CONTEXT_LENGTH_EXCEEDED = new GatewayError("invalid_parameter", {
  publicCode: "context_length_exceeded",
  message:
    "The prompt and the response don't fit into the model's context window. Shorten the conversation, or ask for a shorter response.",
});

/** Codes of the API for programs with an API key. */
export function listApiErrors(): readonly ErrorEntry[] {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return [...codes.map((code) => new GatewayError(code)), CONTEXT_LENGTH_EXCEEDED].map((error) => {
    const { ownCode: code, type, message, shouldRetry: canRetry } = error;
    const [status, onMessages] = [error.status("chat"), error.status("messages")];
    const statuses = status === onMessages ? String(status) : `${status} / ${onMessages}`;
    return { id: code, code, status: statuses, type, message, canRetry };
  });
}

/** Codes of the management API. */
export function listManagementErrors(): readonly ErrorEntry[] {
  return (Object.keys(ADMIN_ERRORS) as AdminErrorCode[]).map((code) => {
    const { status, type, message } = new AdminError(code);
    return {
      id: adminEntryOf(code),
      code,
      status: String(status),
      type,
      message,
      canRetry: canRetry(status, code),
    };
  });
}

function canRetry(status: number, code: AdminErrorCode): boolean {
  return status === 429 || status >= 500 || code === "change_conflict" || code === "request_timeout";
}
