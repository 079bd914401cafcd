import { describe, expect, it } from "vitest";
import { formatManageCommand } from "../../../src/operation/launcher/launch.ts";

const INPUT = {
  cwd: "/srv/gateway",
  packageFolder: "/srv/gateway",
  entry: "/srv/gateway/dist/main.js",
  calledAs: "/srv/gateway/dist/main.js",
  configFile: null,
  dataDir: "/srv/gateway/data",
  adminUrl: "http://127.0.0.1:10001",
  isTokenConfigured: false,
};

describe("formatManageCommand", () => {
  it.each([
    { name: "in the repository npx finds the program", input: {}, line: "npx inference-gateway org list" },
    {
      name: "elsewhere it is called by its file",
      input: { cwd: "/home/a", dataDir: "/home/a/data" },
      line: "node /srv/gateway/dist/main.js org list",
    },
    {
      name: "installed it is called by its name",
      input: { cwd: "/home/a", dataDir: "/home/a/data", calledAs: "/usr/local/bin/inference-gateway" },
      line: "inference-gateway org list",
    },
    {
      name: "a configuration whose data is elsewhere is named",
      input: { configFile: "my config/gateway.yaml", dataDir: "/srv/gateway/my config/data" },
      line: "npx inference-gateway org list --config '/srv/gateway/my config/gateway.yaml'",
    },
    {
      name: "one of this folder is not",
      input: { configFile: "gateway.yaml" },
      line: "npx inference-gateway org list",
    },
    {
      name: "one of this folder is named where it refers to the token",
      input: { configFile: "gateway.yaml", isTokenConfigured: true },
      line: "npx inference-gateway org list --config /srv/gateway/gateway.yaml",
    },
    {
      name: "one of this folder is named where it leads to no address of this machine",
      input: { configFile: "gateway.yaml", adminUrl: "https://gateway.example.com:10001" },
      line: "npx inference-gateway org list --config /srv/gateway/gateway.yaml",
    },
  ])("$name", ({ input, line }) => {
    expect(formatManageCommand({ ...INPUT, ...input })).toBe(line);
  });
});
