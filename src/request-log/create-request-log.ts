/** The log of requests and what deletes its old files, as the configuration says. */
import { join } from "node:path";
import { RequestLog, type RequestLogOptions } from "./request-log.ts";
import { RequestLogRetention, type RequestLogRetentionOptions } from "./retention.ts";

interface DataSettings {
  readonly dataDir: string;
}

interface RetentionSettings extends DataSettings {
  readonly retention: {
    readonly requestLogDays: number;
    readonly requestLogMaxBytes: number | null;
    readonly requestLogProtectedMonths: number;
  };
}

/** In the data folder. */
const FOLDER = "requests";

/** Of one worker. */
export function createRequestLog(
  { dataDir }: DataSettings,
  parts: Pick<RequestLogOptions, "writer" | "clock" | "logger">,
): RequestLog {
  return new RequestLog({ dir: join(dataDir, FOLDER), ...parts });
}

/** Of one host. */
export function createRequestLogRetention(
  { dataDir, retention }: RetentionSettings,
  parts: Pick<RequestLogRetentionOptions, "clock" | "logger" | "onBytes">,
): RequestLogRetention {
  return new RequestLogRetention({
    dir: join(dataDir, FOLDER),
    maxAgeDays: retention.requestLogDays,
    maxBytes: retention.requestLogMaxBytes,
    protectedMonths: retention.requestLogProtectedMonths,
    ...parts,
  });
}
