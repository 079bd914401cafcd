/** Checks of directories on this host: data, spool, sockets. */
import { constants } from "node:fs";
import { access, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { isShort, readDiskSpace } from "../../shared/host/disk-space.ts";
import { type DoctorFinding, type FindingCode, found, ok, reasonOf } from "./finding.ts";

const GROUP_AND_WORLD = 0o077;
const WORLD = 0o007;
const MEBIBYTE = 1024 ** 2;
/** Entries older than this are stuck. */
const STALE_SPOOL_MS = 60_000;

export async function checkFolders(config: Config): Promise<DoctorFinding[]> {
  const { dataDir, settlement, sidecar } = config;
  const sockets = sidecar.tcp === null ? [await checkPrivate("sockets", sidecar.sockets, SOCKETS)] : [];
  return [
    await checkPrivate("data_dir", dataDir, DATA),
    ...(await checkTokenFile(dataDir)),
    await checkWritable("spool.folder", settlement.spool, "settlement.spool"),
    ...(await checkSpace("spool.space", settlement.spool, settlement)),
    ...(settlement.spool.startsWith(join(dataDir, "/"))
      ? []
      : await checkSpace("data_dir.space", dataDir, settlement)),
    ...(await checkSpool(settlement.spool)),
    ...sockets,
  ];
}

async function checkWritable(check: string, folder: string, field: string): Promise<DoctorFinding> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    if ((await stat(folder)).isDirectory()) return ok(check, `${folder} can be written.`);
    return found("folder_is_none", check, {
      message: `${folder} isn't a directory.`,
      fix: `Remove it or change \`${field}\`.`,
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return checkParent(check, folder, field);
    const fix = `Make it writable for the gateway's user (chown, volume mount), or change \`${field}\`.`;
    return found("folder_not_writable", check, {
      message: `${folder} can't be written: ${reasonOf(error)}.`,
      fix,
    });
  }
}

/** Checks that a missing directory can be created when needed. */
async function checkParent(check: string, folder: string, field: string): Promise<DoctorFinding> {
  const existing = await findExisting(folder);
  try {
    await access(existing, constants.W_OK | constants.X_OK);
    return ok(check, `${folder} doesn't exist yet and can be created.`);
  } catch (error) {
    const fix = `Create it, writable for the gateway's user, or change \`${field}\`.`;
    const message = `${folder} doesn't exist and can't be created: ${reasonOf(error)}.`;
    return found("folder_cannot_be_made", check, { message, fix });
  }
}

interface Privacy {
  readonly field: string;
  readonly code: FindingCode;
  /** Consequence of open permissions. */
  readonly risk: string;
}

const SOCKETS: Privacy = {
  field: "sidecar.sockets",
  code: "sockets_open",
  risk: "a process that reaches a socket in it can make the gateway admit requests",
};
const DATA: Privacy = {
  field: "data_dir",
  code: "data_dir_open",
  risk: "it contains spool, logs and configuration, which only the gateway needs",
};

async function checkPrivate(
  check: string,
  folder: string,
  { field, code, risk }: Privacy,
): Promise<DoctorFinding> {
  const writable = await checkWritable(check, folder, field);
  if (writable.level !== "ok") return writable;
  const state = await stat(folder).catch(() => null);
  if (state === null || (state.mode & WORLD) === 0) return writable;
  const mode = (state.mode & 0o777).toString(8);
  const fix = `chmod o-rwx ${folder}: ${risk}.`;
  return found(code, check, {
    message: `${folder} is open to every user of this host (mode ${mode}).`,
    fix,
  });
}

async function checkTokenFile(dataDir: string): Promise<DoctorFinding[]> {
  const file = join(dataDir, "operator-token");
  const state = await stat(file).catch(() => null);
  if (state === null || (state.mode & GROUP_AND_WORLD) === 0) return [];
  const mode = (state.mode & 0o777).toString(8);
  const fix = `chmod 600 ${file}, then replace the token: remove the file and restart.`;
  const message = `${file} can be read by others (mode ${mode}).`;
  return [found("operator_token_readable", "operator_token", { message, fix })];
}

async function checkSpace(
  check: string,
  folder: string,
  { spoolMaxBytes }: Config["settlement"],
): Promise<DoctorFinding[]> {
  const disk = await readDiskSpace(folder);
  if (disk === null) return [];
  const free = Math.floor(disk.freeBytes / MEBIBYTE);
  const message = `${free} MiB are free in ${folder}; the spool may grow to ${Math.floor(spoolMaxBytes / MEBIBYTE)} MiB.`;
  if (!isShort(disk, spoolMaxBytes)) return [ok(check, message)];
  return [found("spool_space_short", check, { message })];
}

/** Returns the directory, or its nearest existing parent. */
async function findExisting(folder: string): Promise<string> {
  const parent = join(folder, "..");
  const exists = await stat(folder).then(
    () => true,
    () => false,
  );
  return exists || parent === folder ? folder : findExisting(parent);
}

async function checkSpool(spool: string): Promise<DoctorFinding[]> {
  const names = await readdir(spool).catch((): string[] => []);
  const findings: DoctorFinding[] = [];
  if (names.includes("reported.jsonl")) {
    const { birthtime } = await stat(join(spool, "reported.jsonl"));
    const message = `${join(spool, "reported.jsonl")} has entries.`;
    findings.push(found("spool_reported", "spool.reported", { message, since: birthtime }));
  }
  const waiting = await Promise.all(
    names.filter((name) => name.endsWith(".spool")).map((name) => stat(join(spool, name)).catch(() => null)),
  );
  const oldestMs = Math.min(...waiting.map((file) => file?.mtimeMs ?? Infinity));
  if (Date.now() - oldestMs <= STALE_SPOOL_MS || oldestMs === Infinity) {
    return findings.length > 0 ? findings : [ok("spool.pending", "No charge is waiting in the spool.")];
  }
  const message = `Charges haven't reached Redis: ${waiting.length} ${waiting.length === 1 ? "file" : "files"} in ${spool}.`;
  return [...findings, found("spool_waiting", "spool.pending", { message, since: new Date(oldestMs) })];
}
