import {
  appendFileSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { LogBound, type LogBoundOptions } from "../../../src/operation/launcher/log-bound.ts";
import { openLogFile } from "../../../src/operation/launcher/log-file.ts";

const MAX_BYTES = 1_000;
const LINE = `${"x".repeat(99)}\n`;

/** An access log that is written as Envoy does: by a descriptor that is opened anew when that is asked for. */
function start(options: Partial<LogBoundOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "igw-logs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [accessLog, gatewayLog] = [join(folder, "access.log"), join(folder, "gateway.log")];
  const other = openLogFile(gatewayLog);
  let descriptor = openSync(accessLog, "a");
  onTestFinished(() => {
    closeSync(descriptor);
    other.close();
  });
  const notices: string[] = [];
  const base: LogBoundOptions = {
    accessLog,
    async reopen() {
      closeSync(descriptor);
      descriptor = openSync(accessLog, "a");
    },
    otherLogs: [gatewayLog],
    folder,
    spoolMaxBytes: 1,
    notice: (line) => void notices.push(line),
    maxBytes: MAX_BYTES,
  };
  return {
    accessLog,
    gatewayLog,
    other,
    notices,
    keeper: new LogBound({ ...base, ...options }),
    tightKeeper: new LogBound({ ...base, spoolMaxBytes: Number.MAX_SAFE_INTEGER }),
    write: (lines: number) => void writeSync(descriptor, LINE.repeat(lines)),
    log: (lines: number) => void writeSync(other.descriptor, LINE.repeat(lines)),
  };
}

const sizes = (...paths: readonly string[]) =>
  paths.map((path) => (existsSync(path) ? lstatSync(path).size : null));

it("sets an access log aside while it is written, and keeps one former file", async () => {
  const { accessLog, keeper, write } = start();
  for (let round = 0; round < 5; round++) {
    write(11);
    await keeper.look();
  }
  write(3);
  await keeper.look();
  expect(sizes(accessLog, `${accessLog}.1`, `${accessLog}.2`)).toEqual([300, 1_100, null]);
});

it("empties a log whose writer keeps its descriptor, and the last lines are found still", async () => {
  const { gatewayLog, other, keeper, log } = start();
  log(11);
  await keeper.look();
  expect(sizes(gatewayLog, `${gatewayLog}.1`)).toEqual([0, 1_100]);
  appendFileSync(gatewayLog, "");
  writeSync(other.descriptor, "the last\n");
  expect(readFileSync(gatewayLog, "utf8")).toBe("the last\n");
  expect(other.tail(2)).toBe("the last");
});

it("stops the access log first while the disk has less room than the spool may need, and begins again", async () => {
  const { accessLog, gatewayLog, keeper, tightKeeper, notices, write, log } = start();
  write(11);
  log(11);
  await keeper.look();
  write(2);
  log(11);
  await tightKeeper.look();
  write(1_000);
  await tightKeeper.look();
  expect(lstatSync(accessLog).isSymbolicLink()).toBe(true);
  expect(sizes(`${accessLog}.1`, gatewayLog, `${gatewayLog}.1`)).toEqual([null, 0, null]);
  expect(notices).toEqual([expect.stringContaining("the access log is stopped")]);
  await keeper.look();
  write(1);
  expect(sizes(accessLog)).toEqual([100]);
  expect(notices).toHaveLength(2);
});
