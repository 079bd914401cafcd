import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    reporters: ["default"],
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/unit/**/*.test.ts", "test/property/**/*.test.ts"] },
      },
      { extends: true, test: { name: "store", include: ["test/store/**/*.test.ts"] } },
      { extends: true, test: { name: "admin", include: ["test/admin/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/{envoy,clients,cli,setup}/**/*.test.ts"],
          testTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
