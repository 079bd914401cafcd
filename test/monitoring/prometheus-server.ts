/**
 * A real Prometheus that scrapes a gateway several times a second, with the shipped alarm rules in which every minute is a
 * part of a second: `for`, ranges, offsets, and the one threshold that is an age. Nothing else of them is changed.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { send } from "../support/http.ts";
import { waitFor } from "../support/wait.ts";
import { type RuleFile, readRules } from "./alarm-rules.ts";
import { PROMETHEUS } from "./find-prometheus.ts";

const MINUTE_MS = 60_000;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

export type AlarmState = "inactive" | "pending" | "firing";

export interface RunningPrometheus {
  readonly url: string;
  /** The strongest state of this alarm's series now. */
  stateOf(alert: string): Promise<AlarmState>;
  /** Every state other than inactive that this alarm has been in. */
  listStates(alert: string): Promise<string[]>;
  /** Series of an instant query. @throws Error with Prometheus's own words when it cannot be read. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
  /** Whether the gateway is among its targets. */
  setScraped(isScraped: boolean): Promise<void>;
  stop(): Promise<void>;
}

export interface Pace {
  /** Interval of scrapes and rules, and what a scrape may take, as Prometheus writes it: "200ms". */
  readonly every: string;
  /** What a minute of the rules lasts; each range of theirs must hold two scrapes. */
  readonly minuteMs: number;
}

/** "5m" → "1665ms", where a minute lasts 333 ms. */
function shrinkDuration(text: string, minuteMs: number): string {
  const [, amount = "0", unit = "s"] = /^(\d+)([smh])$/.exec(text) ?? [];
  return `${Math.max(1, Math.round((Number(amount) * (UNIT_MS[unit] ?? 0) * minuteMs) / MINUTE_MS))}ms`;
}

/** The rules with every minute so short. */
function shrinkRules({ groups }: RuleFile, minuteMs: number): RuleFile {
  const shrinkExpression = (expression: string): string =>
    expression
      .replace(/\[(\d+[smh])\]/g, (_, range: string) => `[${shrinkDuration(range, minuteMs)}]`)
      .replace(/offset (\d+[smh])/g, (_, offset: string) => `offset ${shrinkDuration(offset, minuteMs)}`)
      .replace(
        /(undelivered_seconds > )(\d+)/,
        (_, left: string, age: string) => left + (Number(age) * minuteMs) / MINUTE_MS,
      );
  return {
    groups: groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => ({
        ...rule,
        expr: shrinkExpression(rule.expr),
        ...(rule.for === undefined ? {} : { for: shrinkDuration(rule.for, minuteMs) }),
      })),
    })),
  };
}

/** What a ServiceMonitor does to the labels of its targets. */
export interface Relabeling {
  readonly targetLabel: string;
  readonly replacement: string;
}

/**
 * @param token For the gateway's metrics page.
 * @param relabelings Of the ServiceMonitor that the operator of Prometheus would make this scrape from; none: written by hand.
 */
export async function startPrometheus(
  adminUrl: string,
  token: string,
  { every, minuteMs }: Pace,
  relabelings: readonly Relabeling[] = [],
): Promise<RunningPrometheus> {
  if (PROMETHEUS === null) throw new Error("there is no Prometheus");
  const dir = await mkdtemp(join(tmpdir(), "igw-prom-"));
  const url = `http://127.0.0.1:${await findFreePort()}`;
  await writeFile(join(dir, "rules.yml"), stringify(shrinkRules(readRules(), minuteMs)));
  const targets = join(dir, "targets.json");
  const setTargets = (hosts: readonly string[]) =>
    writeFile(targets, JSON.stringify(hosts.length === 0 ? [] : [{ targets: hosts }]));
  const host = new URL(adminUrl).host;
  await setTargets([host]);
  const scrape = {
    job_name: relabelings.length === 0 ? "inference-gateway" : "serviceMonitor/models/gw/0",
    authorization: { credentials: token },
    file_sd_configs: [{ files: [targets] }],
    relabel_configs: relabelings.map(({ targetLabel, ...rest }) => ({ target_label: targetLabel, ...rest })),
  };
  const config = {
    global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
    rule_files: ["rules.yml"],
    scrape_configs: [scrape],
  };
  await writeFile(join(dir, "prometheus.yml"), stringify(config), { mode: 0o600 });
  const child = startChild(PROMETHEUS, [
    `--config.file=${join(dir, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(dir, "data")}`,
    `--web.listen-address=${new URL(url).host}`,
    "--log.level=warn",
  ]);
  const stop = async (): Promise<void> => {
    await child.stop(10_000);
    await rm(dir, { recursive: true, force: true });
  };
  const query: RunningPrometheus["query"] = async (expression) => {
    const answer = await send(url, { path: `/api/v1/query?query=${encodeURIComponent(expression)}` });
    const { status, error, data } = answer.json() as {
      status: string;
      error?: string;
      data?: { result: [] };
    };
    if (status !== "success" || data === undefined) throw new Error(`${expression}: ${error}`);
    return data.result;
  };
  try {
    await waitFor(
      "Prometheus's first scrape",
      async () => {
        if (child.ended !== null) throw new Error(`Prometheus ended: ${child.stderr}`);
        return (await query('up{job="inference-gateway"} == 1')).length === 1;
      },
      { timeoutMs: 20_000, intervalMs: 100 },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    stateOf: async (alert) => {
      const states = (await query(`ALERTS{alertname="${alert}"}`)).map(({ metric }) => metric["alertstate"]);
      return (["firing", "pending"] as const).find((state) => states.includes(state)) ?? "inactive";
    },
    listStates: async (alert) => {
      const found = await query(`count_over_time(ALERTS{alertname="${alert}"}[10m])`);
      return [...new Set(found.map(({ metric }) => String(metric["alertstate"])))].sort();
    },
    query,
    setScraped: (isScraped) => setTargets(isScraped ? [host] : []),
    stop,
  };
}
