/** The alarm rules by promtool: that they are rules, and what each makes of samples. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, describe, expect, it } from "vitest";
import { ALARM_CASES, type AlarmCase } from "./alarm-cases.ts";
import { type AlarmRule, readRules, RULES_FILE } from "./alarm-rules.ts";
import { PROMTOOL, SKIPPED_WHY } from "./find-prometheus.ts";

const INSTANCE = "gw:10001";
const dir = mkdtempSync(join(tmpdir(), "igw-rules-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const rules = readRules().groups.flatMap((group) => group.rules);

function promtool(...args: readonly string[]): string {
  return execFileSync(PROMTOOL ?? "promtool", args, { encoding: "utf8", timeout: 60_000 });
}

function listSeries(samples: AlarmCase["fault"]): object[] {
  return Object.entries(samples).map(([series, values]) => {
    const [name = "", labels = ""] = series.split(/[{}]/);
    const all = [`instance="${INSTANCE}"`, ...(labels === "" ? [] : [labels])].join(",");
    return { series: `${name}{${all}}`, values };
  });
}

function expectedAlert(alarm: AlarmCase, rule: AlarmRule): object {
  const { summary, description, labels } = alarm;
  return {
    exp_labels: {
      ...(alarm.isOfNoInstance === true ? {} : { instance: INSTANCE }),
      ...rule.labels,
      ...labels,
    },
    exp_annotations: { summary, description, runbook_url: rule.annotations["runbook_url"] },
  };
}

/** promtool's own kind of test file: the fault fires, too early it does not, and something close to it never does. */
function writeTestFile(alarm: AlarmCase, rule: AlarmRule): string {
  const { alert, at, pendingAt, fault, calm } = alarm;
  const quiet = { alertname: alert, exp_alerts: [] };
  const early = pendingAt === null ? [] : [{ eval_time: pendingAt, ...quiet }];
  const firing = { eval_time: at, alertname: alert, exp_alerts: [expectedAlert(alarm, rule)] };
  const file = join(dir, `${alert}.yaml`);
  const content = {
    rule_files: [RULES_FILE],
    evaluation_interval: "15s",
    tests: [
      { interval: "1m", input_series: listSeries(fault), alert_rule_test: [...early, firing] },
      { interval: "1m", input_series: listSeries(calm), alert_rule_test: [{ eval_time: at, ...quiet }] },
    ],
  };
  writeFileSync(file, stringify(content));
  return file;
}

describe(`deploy/prometheus/inference-gateway.rules.yml${SKIPPED_WHY}`, () => {
  it.skipIf(PROMTOOL === null)("is accepted by promtool", () => {
    expect(promtool("check", "rules", RULES_FILE)).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  it("has a case here for every alarm", () => {
    expect(ALARM_CASES.map(({ alert }) => alert).sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });

  it("has, for every alarm, a test beside this one that makes it fire by a real fault", () => {
    const files = readdirSync(import.meta.dirname).filter((name) => /^alarms-.*\.test\.ts$/.test(name));
    const text = files.map((name) => readFileSync(join(import.meta.dirname, name), "utf8")).join("\n");
    const fired = Array.from(text.matchAll(/"(Gateway[A-Za-z]+)"/g), ([, alert]) => alert);
    expect(new Set(fired)).toEqual(new Set(rules.map(({ alert }) => alert)));
  });

  it.skipIf(PROMTOOL === null).each(ALARM_CASES)(
    "fires $alert for its fault, not before its time, and not for what is close to it",
    (alarm) => {
      const rule = rules.find(({ alert }) => alert === alarm.alert);
      const file = writeTestFile(alarm, rule!);
      expect(alarm.pendingAt === null).toBe(rule?.for === undefined);
      expect(promtool("test", "rules", file)).toContain("SUCCESS");
    },
  );
});
