/** Curves as they are published: a picture each in docs/, every figure in results/. */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gatewayCpuMs } from "../report.ts";
import { formatTable } from "../table.ts";
import type { Curve, Curves, StreamPoint } from "./curve.ts";
import { drawChart } from "./draw-chart.ts";
import { formatSizing } from "./sizing.ts";

const IMAGES = fileURLToPath(new URL("../../../docs/images/benchmarks/", import.meta.url));
const RESULTS = fileURLToPath(new URL("../results/", import.meta.url));

export function writeCurves(curves: Curves): void {
  mkdirSync(IMAGES, { recursive: true });
  mkdirSync(RESULTS, { recursive: true });
  for (const { name, picture } of drawCurves(curves)) writeFileSync(`${IMAGES}${name}.svg`, picture);
  const name = `${curves.date}-${curves.machine["cores"]}-cores-curves.json`;
  writeFileSync(`${RESULTS}${name}`, `${JSON.stringify(curves, null, 2)}\n`);
  console.log(formatCurves(curves));
}

/** Pictures by the names of their files. */
export function drawCurves({ curves, streams }: Curves): readonly { name: string; picture: string }[] {
  return [
    ...curves.map((curve) => ({ name: curve.name, picture: drawCurve(curve) })),
    { name: "streams", picture: drawStreams(streams) },
  ];
}

function formatCurves({ curves, streams }: Curves): string {
  const base = curves.find(({ name }) => name === "keys")?.points.at(-1);
  return [
    ...curves.flatMap((curve) => [curve.title, "", formatCurve(curve), ""]),
    "Open streams, a chunk a second on each, one worker",
    "",
    formatStreams(streams),
    ...(base === undefined ? [] : ["", "Sizing", "", formatSizing(base)]),
  ].join("\n");
}

function formatCurve({ condition, points }: Curve): string {
  const headings = [
    condition,
    "req/s",
    "p50 ms",
    "p99 ms",
    "worker ms",
    "Envoy ms",
    "Redis ms",
    "in all ms",
    "failures",
  ];
  return formatTable(
    headings,
    points.map(({ label, requestsPerSecond, p50Ms, p99Ms, cpuMsPerRequest: cpu, failures }) => [
      label,
      Math.round(requestsPerSecond).toLocaleString("en"),
      p50Ms.toFixed(2),
      p99Ms.toFixed(1),
      cpu.sidecar.toFixed(3),
      cpu.envoy.toFixed(3),
      cpu.redis.toFixed(3),
      gatewayCpuMs(cpu).toFixed(3),
      String(failures),
    ]),
  );
}

function formatStreams(points: readonly StreamPoint[]): string {
  const headings = [
    "open streams",
    "worker MB",
    "later",
    "Envoy MB",
    "worker cores",
    "Envoy cores",
    "Redis cores",
    "failures",
  ];
  return formatTable(
    headings,
    points.map((point) => [
      point.streams.toLocaleString("en"),
      point.sidecarMegabytes.toFixed(0),
      point.laterSidecarMegabytes.toFixed(0),
      point.envoyMegabytes.toFixed(0),
      point.sidecarCores.toFixed(2),
      point.envoyCores.toFixed(2),
      point.redisCores.toFixed(2),
      String(point.failures),
    ]),
  );
}

function drawCurve({ title, condition, points }: Curve): string {
  const valuesOf = (read: (point: Curve["points"][number]) => number) => points.map(read);
  return drawChart({
    title,
    condition,
    labels: points.map(({ label }) => label),
    panels: [
      {
        title: "requests per second",
        series: [{ name: "gateway", values: valuesOf(({ requestsPerSecond }) => requestsPerSecond) }],
      },
      {
        title: "CPU time per request, ms",
        series: [
          { name: "workers", values: valuesOf(({ cpuMsPerRequest }) => cpuMsPerRequest.sidecar) },
          { name: "Envoy", values: valuesOf(({ cpuMsPerRequest }) => cpuMsPerRequest.envoy) },
          { name: "Redis", values: valuesOf(({ cpuMsPerRequest }) => cpuMsPerRequest.redis) },
        ],
      },
    ],
  });
}

function drawStreams(points: readonly StreamPoint[]): string {
  return drawChart({
    title: "Open streams, a chunk a second on each, one worker",
    condition: "open streams",
    labels: points.map(({ streams }) => streams.toLocaleString("en")),
    panels: [
      {
        title: "memory, MB",
        series: [
          { name: "worker", values: points.map(({ laterSidecarMegabytes }) => laterSidecarMegabytes) },
          { name: "Envoy", values: points.map(({ envoyMegabytes }) => envoyMegabytes) },
        ],
      },
      {
        title: "cores in use",
        series: [
          { name: "worker", values: points.map(({ sidecarCores }) => sidecarCores) },
          { name: "Envoy", values: points.map(({ envoyCores }) => envoyCores) },
          { name: "Redis", values: points.map(({ redisCores }) => redisCores) },
        ],
      },
    ],
  });
}
