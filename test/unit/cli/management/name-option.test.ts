import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { ORGANIZATION_SETTINGS } from "../../../../src/shared/settings/organization.ts";
import { KEY_SETTINGS } from "../../../../src/shared/settings/key.ts";
import { RefusedCall } from "../../../../src/operation/cli/management/command-error.ts";
import { addSettingOptions, nameOption } from "../../../../src/operation/cli/management/settings.ts";

describe("an error of the API on the command line", () => {
  const command = addSettingOptions(new Command(), KEY_SETTINGS, "create").option("--period <period>");

  it.each([
    [
      "allowed_models.0",
      '`allowed_models.0`: unknown model "x"; `GET /api/catalog` lists all',
      '`--models`: unknown model "x"; `inference-gateway catalog` lists all',
    ],
    ["tokens_per_minute", "`tokens_per_minute`: expected 1 or more", "`--tpm`: expected 1 or more"],
    ["period", "`period`: expected day", "`--period`: expected day"],
    ["elsewhere", "`elsewhere`: expected a name", "`elsewhere`: expected a name"],
  ])("about %s names the option", (param, message, says) => {
    expect((nameOption(new RefusedCall(message, param, 400), command) as Error).message).toBe(says);
  });

  it("about the URL of a webhook names its option", () => {
    const set = addSettingOptions(new Command(), ORGANIZATION_SETTINGS, "change");
    const param = "notifications.webhook.url";
    const error = new RefusedCall(`\`${param}\`: must begin with https://`, param, 400);
    expect((nameOption(error, set) as Error).message).toBe("`--webhook`: must begin with https://");
  });
});
