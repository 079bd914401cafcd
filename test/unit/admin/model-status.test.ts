import { describe, expect, it } from "vitest";
import { ModelStatus } from "../../../src/management/admin/model-status.ts";

interface Line {
  readonly model?: string;
  readonly status?: number;
  readonly code?: string;
  readonly count: number;
}

function formatLine({ model = "acme/a", status = 200, code = "", count }: Line): string {
  return `inference_gateway_requests_total{route="chat",model="${model}",status="${status}",code="${code}"} ${count}`;
}

/** Reads one page of metrics after the other. */
async function countsAfter(pages: readonly (readonly Line[] | Error)[]) {
  const left = [...pages];
  const status = new ModelStatus({
    render: () => {
      const page = left.shift() ?? [];
      return page instanceof Error
        ? Promise.reject(page)
        : Promise.resolve({ text: page.map(formatLine).join("\n") });
    },
    listModels: () => ["acme/a", "acme/b"],
  });
  for (const _ of pages) await status.read();
  return status.counts;
}

const failing = (count: number) => ({ failing: count, models: 2 });

describe("the status of the models", () => {
  it("is unknown before the second reading, and when the metrics can't be read", async () => {
    expect(await countsAfter([])).toBeNull();
    expect(await countsAfter([[]])).toBeNull();
    expect(await countsAfter([[], new Error("away")])).toBeNull();
  });

  it("counts a model of which half of the requests failed since the first reading", async () => {
    const before = [{ count: 1_000 }, { status: 503, count: 900 }];
    const half = [{ count: 1_002 }, { status: 503, count: 902 }];
    const less = [{ count: 1_003 }, { status: 503, count: 902 }];
    expect(await countsAfter([before, before])).toEqual(failing(0));
    expect(await countsAfter([before, half])).toEqual(failing(1));
    expect(await countsAfter([before, less])).toEqual(failing(0));
  });

  it("judges no model by fewer than three requests", async () => {
    expect(await countsAfter([[], [{ status: 503, count: 2 }]])).toEqual(failing(0));
    expect(await countsAfter([[], [{ status: 503, count: 3 }]])).toEqual(failing(1));
  });

  it("counts a stream that broke off, but no client that left and no rejection", async () => {
    expect(await countsAfter([[], [{ code: "upstream_broke_off", count: 3 }]])).toEqual(failing(1));
    const others = [
      { status: 499, count: 9 },
      { status: 429, code: "rate_limit_exceeded", count: 9 },
    ];
    expect(await countsAfter([[], others])).toEqual(failing(0));
  });

  it("ignores models that are not in the catalog, and requests of none", async () => {
    const others = ["acme/gone", ""].map((model) => ({ model, status: 503, count: 5 }));
    expect(await countsAfter([[], others])).toEqual(failing(0));
  });

  it("forgets failures after five minutes", async () => {
    const failed = [{ status: 503, count: 3 }];
    const later = Array.from({ length: 10 }, () => failed);
    expect(await countsAfter([[], failed, ...later.slice(1)])).toEqual(failing(1));
    expect(await countsAfter([[], failed, ...later])).toEqual(failing(0));
  });
});
