import { expect, it } from "vitest";
import { judgeModels } from "../../../src/operation/doctor/check-servers.ts";

it("looks at each of 29,760 models of a server once, whatever the catalog has of them", () => {
  let reads = 0;
  const listed = Array.from({ length: 29_760 }, (_, index) => ({
    get id(): string {
      reads += 1;
      return `m-${index}`;
    },
    contextWindow: 1_000,
    capabilities: null,
  }));
  const catalog = listed.map((_, index) => ({
    id: `vendor/m-${index}`,
    upstream: "local",
    upstreamModel: index === 29_759 ? "gone" : `m-${index}`,
    contextWindow: 1_000,
  }));
  expect(judgeModels(catalog, listed)).toEqual([
    expect.objectContaining({
      code: "upstream_model_unlisted",
      fix: "Set one of the server's names as `upstream_model` (`m-0`, `m-1`, `m-2`, `m-3`, `m-4`, …), or load the model on that server.",
    }),
  ]);
  expect(reads).toBeLessThan(2 * listed.length);
});
