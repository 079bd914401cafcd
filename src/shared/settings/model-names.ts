/** Model aliases of an organization. */
import { modelNames, modelOrNull } from "./kinds.ts";
import { defineSettings } from "./setting.ts";

/**
 * Names that the organization's clients may write as `model`, in addition to catalog ids and the catalog's
 * own aliases.
 */
export const MODEL_NAMES = defineSettings({
  aliases: {
    apiName: "aliases",
    kind: modelNames(),
    default: {},
    description:
      "Catalog id for each name that clients send; a name can override an alias of the catalog. Replaces the whole list.",
    label: "Aliases, one a line",
    hint: "Names that clients send: claude-haiku-4-5 = acme/echo-small",
    cli: {
      option: {
        flags: "--model-alias <pairs>",
        help: "comma-separated model aliases: claude-haiku-4-5=acme/echo-small, or none",
      },
      label: "aliases",
    },
  },
  defaultModel: {
    apiName: "default_model",
    kind: modelOrNull(),
    default: null,
    description: "Catalog id for unknown model names; null: they are rejected.",
    label: "Default model",
    hint: "Catalog id for unknown model names. Empty: they are rejected.",
    cli: {
      option: {
        flags: "--default-model <id>",
        help: "catalog id for unknown model names, or none to reject them",
      },
      label: "default",
    },
  },
});
