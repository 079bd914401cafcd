import type { JsonObject } from "./admin-client.ts";

/** "Outside usage: 1000 input, 50 output tokens of acme/echo-small at batch": of an answer or of the audit log. */
export function describeOutsideUsage(usage: JsonObject): string {
  const countOf = (name: string): number => Number(usage[name] ?? 0);
  const cached = countOf("cached_input_tokens");
  const counts = [
    `${countOf("input_tokens")} input`,
    ...(cached === 0 ? [] : [`${cached} cached input`]),
    `${countOf("output_tokens")} output tokens`,
  ];
  const tier = usage["service_tier"];
  return `Outside usage: ${counts.join(", ")} of ${String(usage["model"])}${typeof tier === "string" ? ` at ${tier}` : ""}`;
}
