/** @jsxImportSource hono/jsx */
import type { RequestView } from "../views.ts";

/** "402 hard_cap_reached". */
export function RequestStatus({ request }: { request: Pick<RequestView, "status" | "error_code"> }) {
  const { status, error_code: code } = request;
  const level = status === null || status >= 400 || code !== null ? "bad" : "good";
  return (
    <span class={`state ${level}`}>
      {status ?? (code === null ? "lost" : null)}
      {status === null || code === null ? null : " "}
      {code === null ? null : <Breakable word={code} />}
    </span>
  );
}

/** A code is as long as a sentence: where there is no room it breaks behind an underscore. */
function Breakable({ word }: { word: string }) {
  const [first = "", ...rest] = word.split("_");
  return (
    <>
      {first}
      {rest.map((part) => (
        <>
          _<wbr />
          {part}
        </>
      ))}
    </>
  );
}
