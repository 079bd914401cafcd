/**
 * A worker as the supervisor sees it, without a gateway. It writes what it is told to stdout; BEHAVIOUR tells it to
 * `hang` on drain, to `fail` or `exit` before it is ready, to be `late`, or to end with `dirty` work.
 */
const index = Number(process.argv[process.argv.indexOf("--index") + 1]);
const behaviour = process.env["BEHAVIOUR"] ?? "";
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => undefined);
process.on("message", (value) => {
  const message = /** @type {{type: string, body?: unknown, catalog?: unknown}} */ (value);
  if (message.type === "application") {
    process.send?.({ type: "application", body: { index, got: message.body } });
  }
  if (message.type === "configuration" || message.type === "catalog") {
    process.send?.({ type: "application", body: { index, got: message } });
  }
  if (message.type === "drain" && behaviour !== "hang") process.exit(behaviour === "dirty" ? 1 : 0);
});
if (behaviour === "exit") process.exit(7);
if (behaviour === "fail") process.send?.({ type: "failed", message: "no such thing" });
else if (behaviour === "ask") process.send?.({ type: "configuration_wanted" });
if (behaviour === "" || behaviour === "ask" || behaviour === "hang" || behaviour === "dirty") {
  process.send?.({ type: "ready" });
}
