import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A gateway.yaml in a folder, for what commands ask of a Redis alone. Returns its path. */
export function writeUsageConfig(dir: string, redisUrl: string): string {
  const path = join(dir, "gateway.yaml");
  const text = `redis: {url: "${redisUrl}"}
data_dir: data
upstreams: [{name: local, url: "http://127.0.0.1:8000"}]
catalog:
  - {id: acme/echo-small, upstream: local, upstream_model: echo, context_window: 1000, max_output_tokens: 100,
     prices: {USD: {input: "1.00", output: "1.00"}}}
`;
  writeFileSync(path, text);
  return path;
}
