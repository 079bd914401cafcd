/** @jsxImportSource hono/jsx */
import type { RequestView } from "../views.ts";

/** "402 hard_cap_reached". */
export function RequestStatus({ request }: { request: Pick<RequestView, "status" | "error_code"> }) {
  const { status, error_code: code } = request;
  const level = status === null || status >= 400 || code !== null ? "bad" : "good";
  return (
    <span class={`state ${level}`}>
      {code === null ? String(status ?? "lost") : `${status ?? ""} ${code}`}
    </span>
  );
}
