import { mapTogether } from "../../shared/event-loop/map-together.ts";
import { type Command, InvalidArgumentError } from "commander";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import type { Currencies, LoggedUsage } from "../../data-path/request-log/read-usage.ts";
import { requestLogFolder } from "../../data-path/request-log/request-log.ts";
import type { UsageRebuild } from "../../data-path/request-log/rebuild-usage.ts";
import type { UsageDifference, UsageVerification } from "../../data-path/request-log/verify-usage.ts";
import type { WindowDifference, WindowVerification } from "../../data-path/request-log/verify-windows.ts";
import type { OpenStore } from "../../data-path/store/open-store.ts";
import type { Store } from "../../shared/stored/store.ts";
import { CommandError } from "./management/command-error.ts";
import { describeWindow, PERIODS } from "../../shared/time/periods.ts";
import { cleanText } from "../../shared/text/plain-text.ts";
import type { ObstructedWindows, WindowObstacle } from "../../shared/stored/windows.ts";

interface VerifyOptions {
  readonly config: string;
  readonly month?: string;
  readonly requests?: string;
  readonly json?: true;
}

/** Longer than on the request path: reading a month's usage takes time, and no request waits. */
const COMMAND_TIMEOUT_MS = 10_000;
/** Allows for a Redis that is starting. */
const READY_TIMEOUT_MS = 10_000;
/** Organizations per read. */
const READ_TOGETHER = 200;

/** `usage verify` and `usage rebuild`: access Redis and the request log directly, for the host's operator. */
export function addUsageVerifyCommands(program: Command): void {
  const usage = program.commands.find((command) => command.name() === "usage") ?? program.command("usage");
  addOptions(
    usage
      .command("verify")
      .description(
        "Recompute a month's spend, limits and usage from the usage rows and the request log. Prints every difference, and exits with 1 if there is one. Exact while nothing is in flight.",
      ),
  ).action((options: VerifyOptions) => verify(options));
  addOptions(
    usage
      .command("rebuild")
      .description(
        "Raise a month's spend, limits and usage to the request log's figures, after Redis was restored from an older snapshot. Skips organizations with requests in flight.",
      ),
  ).action((options: VerifyOptions) => rebuild(options));
}

function addOptions(command: Command): Command {
  return command
    .requiredOption("--config <file>", "gateway.yaml")
    .option("--month <month>", "month such as 2026-11; default: this month by Redis's clock", parseMonth)
    .option(
      "--requests <dir>",
      "directory with the request logs of all hosts; default: `requests` in `data_dir`",
    )
    .option("--json", "result as JSON on stdout");
}

function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError("expected a month such as 2026-11");
}

async function verify(options: VerifyOptions): Promise<void> {
  await withStore(options, async (store, month, dir) => {
    const { readLoggedUsage } = await import("../../data-path/request-log/read-usage.ts");
    const { verifyUsage } = await import("../../data-path/request-log/verify-usage.ts");
    const { verifyWindows } = await import("../../data-path/request-log/verify-windows.ts");
    const logged = dir === null ? null : await readLoggedUsage(dir, month, await readCurrencies(store));
    const verification = await verifyUsage(store, month, logged);
    const ofWindows = await verifyWindows(store, month);
    const differences = [...verification.differences, ...ofWindows.differences];
    if (differences.length > 0) process.exitCode = 1;
    const { differences: _, ...windows } = ofWindows;
    const result = { ...verification, differences, windows, log: summarizeLog(logged) };
    process.stdout.write(
      options.json ? formatJson(result) : formatVerification(verification, ofWindows, logged),
    );
  });
}

async function rebuild(options: VerifyOptions): Promise<void> {
  await withStore(options, async (store, month, dir) => {
    if (dir === null) throw new CommandError("No request log found. Pass its directory with --requests.");
    const { rebuildUsage } = await import("../../data-path/request-log/rebuild-usage.ts");
    const { readLateCharges, readLoggedUsage } = await import("../../data-path/request-log/read-usage.ts");
    const currencies = await readCurrencies(store);
    const logged = await readLoggedUsage(dir, month, currencies);
    const nowMs = await store.timeMs();
    const lateCharges = () => readLateCharges(dir, month, nowMs, currencies);
    const result = await rebuildUsage(store, logged, lateCharges);
    if (result.inFlight.length > 0) process.exitCode = 1;
    process.stdout.write(options.json ? formatJson({ month, ...result }) : formatRebuild(month, result));
  });
}

/** Includes deleted organizations: their usage and charges are kept. */
async function readCurrencies(store: Store): Promise<Currencies> {
  const ids = await store.listOrganizationIds();
  const organizations = await mapTogether(ids, READ_TOGETHER, (id) => store.getOrganization(id));
  return new Map(organizations.filter((one) => one !== null).map(({ id, currency }) => [id, currency]));
}

type Run = (store: Store, month: string, requestsDir: string | null) => Promise<void>;

async function withStore(options: VerifyOptions, run: Run): Promise<void> {
  const { loadConfig } = await import("../../shared/config/load.ts");
  const { applyOverrides } = await import("../supervisor/config-overrides.ts");
  const loaded = loadConfig(options.config, { secrets: "own" });
  // Without a configured Redis: the private one of a stack on this host.
  const privateRedis = join(loaded.sidecar.sockets, "redis.sock");
  const config = loaded.redis === null ? applyOverrides(loaded, { privateRedis }) : loaded;
  const opened = await open(config, loaded.redis === null);
  try {
    const month = options.month ?? new Date(await opened.store.timeMs()).toISOString().slice(0, 7);
    const dir = options.requests ?? requestLogFolder(config);
    if (options.requests !== undefined && !existsSync(dir)) {
      throw new CommandError(`No directory ${dir}.`);
    }
    await run(opened.store, month, existsSync(dir) ? dir : null);
  } finally {
    opened.close();
  }
}

/** @throws CommandError if Redis is unreachable, rejects the login, or has data of another version. */
async function open(config: Config, isPrivate: boolean): Promise<OpenStore> {
  const { openStore } = await import("../../data-path/store/open-store.ts");
  const { createLogger } = await import("../../shared/telemetry/logger.ts");
  try {
    return await openStore(config, createLogger("usage", "fatal"), {
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      readyTimeoutMs: READY_TIMEOUT_MS,
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const where = config.redis?.urls.join(", ") ?? "";
    const hint = isPrivate
      ? "This is the private Redis of `inference-gateway up`, which runs only with it: start `up`, and leave it running meanwhile."
      : "Does Redis run at the address of `redis` in the configuration?";
    throw new CommandError(`Redis at ${where} can't be used: ${error.message}\n${hint}`, { cause: error });
  }
}

function summarizeLog(logged: LoggedUsage | null) {
  if (logged === null) return null;
  const { files, requests, damagedLines, otherCurrencyRequests } = logged;
  return { files, requests, damagedLines, otherCurrencyRequests };
}

function formatVerification(
  verification: UsageVerification,
  ofWindows: WindowVerification,
  logged: LoggedUsage | null,
): string {
  const { month, organizations, rows, spentMicrocents } = verification;
  const differences = [
    ...verification.differences.map(formatDifference),
    ...ofWindows.differences.map(formatWindowDifference),
  ];
  const log =
    logged === null
      ? "No request log was found: spend was compared only with the usage rows."
      : `Request log: ${logged.requests} requests in ${logged.files} files, ${logged.damagedLines} damaged lines${formatOtherCurrency(logged)}.`;
  const head = `${month}: ${organizations} organizations, ${rows} usage rows, ${spentMicrocents} microcents spent.\n${log}\n${formatWindows(ofWindows)}`;
  if (differences.length === 0) return `${head}No difference.\n`;
  return `${head}${differences.length} differences:\n${differences.join("\n")}\n`;
}

function formatOtherCurrency({ otherCurrencyRequests: requests }: LoggedUsage): string {
  if (requests === 0) return "";
  return `, ${requests} requests not counted, because their currency isn't their organization's`;
}

const MEANINGS: Readonly<Record<UsageDifference["kind"], string>> = {
  spend_of_organization: "the organization's spend isn't the sum of its usage rows",
  spend_of_key: "the key's spend isn't the sum of its usage rows",
  sum_of_day: "the day's stored sum isn't that of its usage rows: `usage rebuild` deletes the sum",
  missing_in_redis:
    "the request log has more than Redis: charges wait in a spool, which a running gateway sends, or are lost. " +
    "`usage rebuild` restores them and counts none twice",
  missing_in_log: "Redis has more than the request log: a worker died before it wrote, or a log is missing",
  in_other_tag_row: "Redis has the request under other tags than the request log",
};

function formatDifference(difference: UsageDifference): string {
  const { organizationId, keyId, day, model, tags, kind, figure, expected, found } = difference;
  const parts = [organizationId, keyId, day, model, tags];
  const subject = parts.filter((part) => part !== null && part !== "").join(" ");
  return `  ${subject}: ${figure}: expected ${expected}, found ${found} (${found - expected}); ${MEANINGS[kind]}`;
}

function formatRebuild(
  month: string,
  { raisedRows, addedMicrocents, settledRequests, inFlight }: UsageRebuild,
): string {
  const done =
    `${month}: charged ${settledRequests} requests by their log, raised ${raisedRows} usage rows, ` +
    `added ${addedMicrocents} microcents.\n`;
  if (inFlight.length === 0) return done;
  return `${done}Requests are in flight, so nothing was changed. Try again: ${inFlight.join(", ")}\n`;
}

function formatJson(value: object): string {
  return `${JSON.stringify(value, (_key, each: unknown) => (typeof each === "bigint" ? String(each) : each))}\n`;
}

/** Empty if no organization counts any. */
function formatWindows({ organizations, compared, notCompared }: WindowVerification): string {
  if (organizations === 0) return "";
  const head = `Windows of limits: ${compared} of ${organizations} organizations compared with the usage rows.\n`;
  const groups = new Map<string, WindowVerification["notCompared"]>();
  for (const one of notCompared) {
    const obstacle = `${formatSpan(one)}: ${OBSTACLES[one.obstacle]}`;
    groups.set(obstacle, [...(groups.get(obstacle) ?? []), one]);
  }
  const lines = [...groups].map(
    ([obstacle, all]) =>
      `Not compared: ${obstacle} (${all.map(({ organizationId }) => organizationId).join(", ")})\n`,
  );
  return head + lines.join("");
}

/** "of days are kept for 15 days", "of weeks for 22" */
const RETENTION = Object.entries(PERIODS)
  .filter(([, { retentionDays }]) => retentionDays !== null)
  .map(([period, { retentionDays }], place) =>
    place === 0 ? `of ${period}s are kept for ${retentionDays} days` : `of ${period}s for ${retentionDays}`,
  );
const OBSTACLES: Readonly<Record<WindowObstacle, string>> = {
  counters_expired: `counters ${RETENTION.join(", ")}`,
  usage_expired: "the usage of a part of it is no longer stored",
  beginning: "spend before the first limit is still being added",
};

function formatSpan({ period, from, to }: ObstructedWindows): string {
  if (from === null || to === null) return `${period}s`;
  if (from === to) return `what is counted ${describeWindow(period, from)}`;
  return `${period}s from ${from} to ${to}`;
}

function formatWindowDifference(difference: WindowDifference): string {
  const { organizationId, owner, period, window, figure, expected, found } = difference;
  const { scope, id, name } = owner;
  const ownerParts = [scope, name === null ? null : `"${cleanText(name)}"`, id === null ? null : `(${id})`];
  const when = describeWindow(period, window ?? "");
  const subject = [organizationId, ...ownerParts, when].filter((part) => part !== null).join(" ");
  return (
    `  ${subject}: ${figure}: expected ${expected}, found ${found} (${found - expected}); ` +
    "the count of its limits isn't the sum of its usage rows"
  );
}
