/** Findings about the configuration, and about files and folders of this host. */
import { chmod, mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeConfigState } from "../../../src/shared/config/reload/config-state.ts";
import type { Provocation } from "./provocation.ts";

const STATE = { catalogSince: "2026-11-22T00:00:00.000Z", refused: null, waitingForRestart: [] };

const writeSpool = (name: string) => async (folder: string) => {
  await mkdir(join(folder, "data/spool"), { recursive: true });
  const file = join(folder, "data/spool", name);
  await writeFile(file, "{}\n");
  await utimes(file, 1_700_000_000, 1_700_000_000);
};

export const FOLDER_FAULTS = {
  configuration_invalid: [
    {
      name: "a field has a value out of its range",
      provoke: (world) => world.examine({ retention: { usage_months: 0 } }),
      says: /retention\.usage_months/,
    },
  ],
  configuration_refused: [
    {
      name: "the running gateway has left why it refused the file",
      provoke: (world) =>
        world.examine({}, async (folder) => {
          const problems = [{ path: "catalog[0].upstream", message: "not in the running configuration" }];
          writeConfigState(join(folder, "data"), {
            ...STATE,
            refused: { since: STATE.catalogSince, problems },
          });
        }),
      says: /rejected the file .*catalog\[0\]\.upstream: not in the running/,
    },
  ],
  configuration_waits: [
    {
      name: "the running gateway has left what waits for a restart",
      provoke: (world) =>
        world.examine({}, async (folder) =>
          writeConfigState(join(folder, "data"), { ...STATE, waitingForRestart: ["limits.max_body_bytes"] }),
        ),
      says: /`limits\.max_body_bytes` has changed/,
    },
  ],
  folder_not_writable: [
    {
      name: "a file is where the spool should be",
      provoke: (world) =>
        world.examine({ settlement: { spool: "taken" } }, (folder) => writeFile(join(folder, "taken"), "")),
      says: /taken can't be written/,
    },
  ],
  folder_is_none: [
    {
      name: "an executable file is where the spool should be",
      provoke: (world) =>
        world.examine({ settlement: { spool: "taken" } }, (folder) =>
          writeFile(join(folder, "taken"), "", { mode: 0o755 }),
        ),
      says: /taken isn't a directory/,
    },
  ],
  folder_cannot_be_made: [
    {
      name: "a file is on the way to the spool",
      provoke: (world) =>
        world.examine({ settlement: { spool: "taken/spool" } }, (folder) =>
          writeFile(join(folder, "taken"), ""),
        ),
      says: /can't be created/,
    },
  ],
  sockets_open: [
    {
      name: "the sockets' folder has mode 777",
      provoke: (world) =>
        world.examine({}, async (folder) => {
          await mkdir(join(folder, "run"));
          await chmod(join(folder, "run"), 0o777);
        }),
      says: /mode 777/,
    },
  ],
  data_dir_open: [
    {
      name: "the data's folder has mode 755",
      provoke: (world) =>
        world.examine({}, async (folder) => {
          await mkdir(join(folder, "data"));
          await chmod(join(folder, "data"), 0o755);
        }),
      says: /data is open to every user of this host \(mode 755\)/,
    },
  ],
  operator_token_readable: [
    {
      name: "the token's file has mode 644",
      provoke: (world) =>
        world.examine({}, async (folder) => {
          await mkdir(join(folder, "data"));
          await writeFile(join(folder, "data/operator-token"), "igw_op_x", { mode: 0o644 });
          await chmod(join(folder, "data/operator-token"), 0o644);
        }),
      says: /mode 644/,
    },
  ],
  spool_space_short: [
    {
      name: "the spool may take more than any disk has",
      provoke: (world) => world.examine({ settlement: { spool_max_bytes: 1024 ** 4 } }),
      says: /MiB are free/,
    },
  ],
  spool_reported: [
    {
      name: "reported.jsonl is there",
      provoke: (world) => world.examine({}, writeSpool("reported.jsonl")),
      says: /reported\.jsonl has entries/,
    },
  ],
  spool_waiting: [
    {
      name: "a file of charges is years old",
      provoke: (world) => world.examine({}, writeSpool("worker-0.1.000000.spool")),
      says: /Charges haven't reached Redis: 1 file in /,
    },
  ],
  worker_no_socket: [
    {
      name: "a file is where the worker's socket should be",
      provoke: (world) =>
        world.examine({}, async (folder) => {
          await mkdir(join(folder, "run"));
          await writeFile(join(folder, "run/gateway-0.sock"), "");
        }),
      says: /isn't a socket/,
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
