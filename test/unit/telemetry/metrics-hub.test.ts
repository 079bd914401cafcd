import { afterEach, describe, expect, it } from "vitest";
import { getLogLevel, setLogLevel } from "../../../src/shared/telemetry/log-level.ts";
import { createMetrics, type Metrics } from "../../../src/shared/telemetry/metrics.ts";
import { MetricsHub } from "../../../src/shared/telemetry/metrics-hub.ts";
import { describeEnd } from "../../../src/data-path/exchange/ends/describe-end.ts";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { MAX_ORGANIZATION_LABELS, RequestMeter } from "../../../src/shared/telemetry/request-meter.ts";
import { parseMetrics, sumOf } from "../../support/metrics-page.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";

const hubs: MetricsHub[] = [];
afterEach(() => {
  hubs.splice(0).forEach((hub) => hub.stop());
  setLogLevel("info");
});

interface Reporter {
  metrics: Metrics;
  pid: number;
}

/** A hub over processes that answer when they are asked; the `pid` of one tells its life. */
function startHub(workers: readonly Reporter[], admin: Reporter = { metrics: createMetrics(), pid: 9 }) {
  const sent: unknown[] = [];
  let listener: (message: unknown, index: number) => void = () => undefined;
  let adminListener = listener;
  const report = async (from: Reporter, to: () => typeof listener, index: number): Promise<void> => {
    const snapshot = await from.metrics.registry.getMetricsAsJSON();
    to()({ kind: "metrics", pid: from.pid, snapshot }, index);
  };
  const hub = new MetricsHub({
    metrics: createMetrics(),
    workers: workers.length,
    build: { version: "1.2.3", transport: "wire" },
    channels: {
      workers: {
        send: (message) => {
          sent.push(message);
          workers.forEach((worker, index) => void report(worker, () => listener, index));
        },
        onMessage: (next) => {
          listener = next;
        },
      },
      admin: {
        send: () => void report(admin, () => adminListener, -1),
        onMessage: (next) => {
          adminListener = next;
        },
      },
    },
  });
  hubs.push(hub);
  const read = async () => parseMetrics((await hub.render()).text);
  return { hub, sent, read };
}

const REQUEST = { route: "messages", model: "acme/a", status: "200", code: "" };

describe("MetricsHub", () => {
  it("sums over workers, histograms too, and says how many report", async () => {
    const workers = [1, 2].map((pid) => ({ metrics: createMetrics(), pid }));
    workers.forEach(({ metrics }, index) => {
      metrics.requests.inc(REQUEST, 10 + index);
      metrics.authz.series({}).observe(0.002);
      metrics.requestsInFlight.set(3);
    });
    const page = await startHub(workers).read();
    expect(sumOf(page, "inference_gateway_requests_total", REQUEST)).toBe(21);
    expect(sumOf(page, "inference_gateway_authz_duration_seconds_count")).toBe(2);
    expect(sumOf(page, "inference_gateway_open_requests")).toBe(6);
    expect(sumOf(page, "inference_gateway_workers_reporting")).toBe(2);
    expect(sumOf(page, "inference_gateway_build_info", { version: "1.2.3" })).toBe(1);
  });

  it("keeps what an ended worker has counted, forgets what it held, and counts the restart", async () => {
    const worker = { metrics: createMetrics(), pid: 1 };
    const { read } = startHub([worker]);
    worker.metrics.requests.inc(REQUEST, 5);
    worker.metrics.requestsInFlight.set(4);
    await read();
    for (const pid of [2, 3]) {
      worker.metrics = createMetrics();
      worker.pid = pid;
      worker.metrics.requests.inc(REQUEST, 1);
      await read();
    }
    const page = await read();
    expect(sumOf(page, "inference_gateway_requests_total", REQUEST)).toBe(7);
    expect(sumOf(page, "inference_gateway_open_requests")).toBe(0);
    expect(sumOf(page, "inference_gateway_worker_restarts_total")).toBe(2);
  });

  it("adds what the admin process has counted, and takes it for no worker", async () => {
    const admin = { metrics: createMetrics(), pid: 9 };
    const { read } = startHub([{ metrics: createMetrics(), pid: 1 }], admin);
    for (const pid of [9, 10]) {
      admin.metrics = createMetrics();
      admin.pid = pid;
      admin.metrics.alertsFired.inc(2);
      await read();
    }
    const page = await read();
    expect(sumOf(page, "inference_gateway_alerts_fired_total")).toBe(4);
    expect(sumOf(page, "inference_gateway_workers_reporting")).toBe(1);
    expect(sumOf(page, "inference_gateway_worker_restarts_total")).toBe(0);
  });

  it("shows a worker that does not answer as it last reported", async () => {
    const worker = { metrics: createMetrics(), pid: 1 };
    const workers = [worker, { metrics: createMetrics(), pid: 2 }];
    worker.metrics.requests.inc(REQUEST, 5);
    const { read } = startHub(workers);
    await read();
    worker.metrics.registry.getMetricsAsJSON = () => new Promise(() => undefined);
    expect(sumOf(await read(), "inference_gateway_requests_total", REQUEST)).toBe(5);
  });

  it("sends a changed log level to all workers, also to one that starts later", async () => {
    const worker = { metrics: createMetrics(), pid: 1 };
    const { hub, sent, read } = startHub([worker]);
    await read();
    hub.setLogLevel("warn");
    expect(getLogLevel()).toBe("warn");
    const order = { kind: "log_level", level: "warn" };
    expect(sent.filter((message) => JSON.stringify(message) === JSON.stringify(order))).toHaveLength(1);
    worker.pid = 2;
    await read();
    expect(sent.filter((message) => JSON.stringify(message) === JSON.stringify(order))).toHaveLength(2);
  });
});

describe("RequestMeter", () => {
  const finished = {
    requestId: "req_1",
    route: "messages",
    organizationName: "Acme",
    keyId: "key_1",
    currency: "USD",
    model: "acme/a",
    status: 200,
    code: null,
    ownCode: null,
    capPeriod: null,
    usageContradiction: null,
    unknownFinishReason: null,
    durationMs: 1000,
    firstTokenMs: 200,
  };
  const tokens = { ...NO_TOKENS, inputTokens: 3, cachedInputTokens: 2, outputTokens: 9, reasoningTokens: 1 };

  it("keeps labels of so many organizations and puts the rest under `other`, so that the sum stays right", async () => {
    const metrics = createMetrics();
    const meter = new RequestMeter({ metrics, logger: { isOn: false, write: () => undefined } });
    const settled = { tokens, costMicrocents: 7n, estimated: false, unpricedServiceTier: null };
    const organizations = MAX_ORGANIZATION_LABELS + 50;
    for (let index = 0; index < organizations; index += 1) {
      meter.finished({ ...finished, organizationId: `org_${index}`, settled });
    }
    const page = parseMetrics(await metrics.registry.metrics());
    const rows = page.filter(({ name }) => name === "inference_gateway_spend_microcents_total");
    expect(rows).toHaveLength(MAX_ORGANIZATION_LABELS + 1);
    expect(sumOf(page, "inference_gateway_spend_microcents_total")).toBe(7 * organizations);
    expect(sumOf(page, "inference_gateway_spend_microcents_total", { organization_id: "other" })).toBe(350);
  });

  it("names each organization with a label, by its latest name", async () => {
    const metrics = createMetrics();
    const meter = new RequestMeter({ metrics, logger: { isOn: false, write: () => undefined } });
    const settled = { tokens, costMicrocents: 7n, estimated: false, unpricedServiceTier: null };
    for (const [organizationId, organizationName] of [
      ["org_1", "Acme"],
      ["org_2", "Globex"],
      ["org_1", "Acme Labs"],
    ] as const) {
      meter.finished({ ...finished, organizationId, organizationName, settled });
    }
    const page = parseMetrics(await metrics.registry.metrics());
    const named = page.filter(({ name }) => name === "inference_gateway_organization_info");
    expect(
      named.map(({ labels }) => `${labels["organization_id"]} ${labels["organization"]}`).sort(),
    ).toEqual(["org_1 Acme Labs", "org_2 Globex"]);
  });

  it("makes the line of a request only where somebody reads it", () => {
    const lines: object[] = [];
    const logger = { isOn: false, write: (fields: object) => void lines.push(fields) };
    const meter = new RequestMeter({ metrics: createMetrics(), logger });
    const request = { ...finished, organizationId: "org_1", settled: null };
    meter.finished(request);
    expect(lines).toEqual([]);
    logger.isOn = true;
    meter.finished(request);
    expect(lines).toMatchObject([{ request_id: "req_1", organization_id: "org_1", status: 200 }]);
  });

  it("tells tokens a second and seconds a token from the first bytes on", async () => {
    const metrics = createMetrics();
    const meter = new RequestMeter({ metrics, logger: { isOn: false, write: () => undefined } });
    meter.finished({
      ...finished,
      organizationId: "org",
      settled: { tokens, costMicrocents: 1n, estimated: true, unpricedServiceTier: "made-up" },
    });
    const page = parseMetrics(await metrics.registry.metrics());
    expect(sumOf(page, "inference_gateway_output_tokens_per_second_sum")).toBeCloseTo(9 / 0.8);
    expect(sumOf(page, "gen_ai_server_time_per_output_token_seconds_sum")).toBeCloseTo(0.1);
    expect(sumOf(page, "gen_ai_server_time_to_first_token_seconds_sum")).toBeCloseTo(0.2);
    expect(sumOf(page, "inference_gateway_estimated_requests_total")).toBe(1);
    // What an upstream makes up is no label.
    const unpriced = { model: "acme/a", service_tier: "other" };
    expect(sumOf(page, "inference_gateway_unpriced_service_tiers_total", unpriced)).toBe(1);
  });

  it("takes no code that an upstream made up as a label, nor counts it as a refusal", async () => {
    const metrics = createMetrics();
    const meter = new RequestMeter({ metrics, logger: { isOn: false, write: () => undefined } });
    for (const upstreamCode of [
      "hard_cap_reached",
      ...Array.from({ length: 50 }, (_, at) => `made_up_${at}`),
    ]) {
      const error = new GatewayError("invalid_parameter", { upstreamCode });
      const ended = { identity: { requestId: "req_1" }, caller: {}, endpoint: "messages" } as const;
      meter.finished(describeEnd(ended, { status: 400, error, durationMs: 1 }));
    }
    const page = parseMetrics(await metrics.registry.metrics());
    const rows = page.filter(({ name }) => name === "inference_gateway_requests_total");
    expect(rows.map(({ labels, value }) => [labels["code"], value])).toEqual([["invalid_parameter", 51]]);
    expect(sumOf(page, "inference_gateway_refusals_total")).toBe(0);
  });
});
