/** Curves as they are published: a picture and a table each in docs/, every figure in results/. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gatewayCpuMs } from "../report.ts";
import { formatTable } from "../table.ts";
import type { Curve, Curves, StreamPoint } from "./curve.ts";
import { drawChart } from "./draw-chart.ts";
import { formatSizing } from "./sizing.ts";

const DOCUMENT = fileURLToPath(new URL("../../../docs/results/scaling.md", import.meta.url));
const IMAGES = "images/benchmarks";
const RESULTS = fileURLToPath(new URL("../results/", import.meta.url));
const BEGIN = "<!-- curves: written by `npm run bench -- --curves` -->";
const END = "<!-- end of curves -->";
const STREAMS = "streams";

/** @throws Error when the document has no place for them. */
export function writeCurves(curves: Curves): void {
  const images = fileURLToPath(new URL(`../../../docs/${IMAGES}/`, import.meta.url));
  mkdirSync(images, { recursive: true });
  mkdirSync(RESULTS, { recursive: true });
  for (const curve of curves.curves) writeFileSync(`${images}${curve.name}.svg`, drawCurve(curve));
  writeFileSync(`${images}${STREAMS}.svg`, drawStreams(curves.streams));
  const name = `${curves.date}-${curves.machine["cores"]}-cores-curves.json`;
  writeFileSync(`${RESULTS}${name}`, `${JSON.stringify(curves, null, 2)}\n`);
  const text = formatCurves(curves);
  writeFileSync(DOCUMENT, replaceBetween(readFileSync(DOCUMENT, "utf8"), text));
  console.log(text);
}

/** The text that stands in the document. */
export function formatCurves({ date, machine, curves, streams }: Curves): string {
  const { cpu, cores, node, envoy, redis } = machine;
  const base = curves.find(({ name }) => name === "keys")?.points.at(-1);
  return [
    `${date}, ${cores} cores of ${cpu}, Node ${node}, Envoy ${envoy}, Redis ${redis}; load generator and model server share the machine.`,
    ...curves.flatMap((curve) => [
      "",
      `### ${curve.title}`,
      "",
      image(curve.title, curve.name),
      "",
      formatCurve(curve),
    ]),
    "",
    "### Open streams, a chunk a second on each, one worker",
    "",
    image("Open streams", STREAMS),
    "",
    formatStreams(streams),
    ...(base === undefined ? [] : ["", "### Sizing", "", formatSizing(base)]),
  ].join("\n");
}

function image(title: string, name: string): string {
  return `![${title}](../${IMAGES}/${name}.svg)`;
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

function replaceBetween(document: string, text: string): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin === -1 || end < begin) {
    throw new Error(`docs/results/scaling.md has no place for the curves: "${BEGIN}"`);
  }
  return `${document.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${document.slice(end)}`;
}
