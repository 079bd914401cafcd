import { isJsonObject } from "../../../../shared/text/json-object.ts";
import { isOwnCarrier, type ReasoningUnpacker } from "../../conversation/carried-reasoning.ts";
import { PARAGRAPH } from "../../conversation/parts.ts";
import type { Item } from "./items.ts";

/**
 * Reads the reasoning of an earlier turn: the carried text, or the item's text, or its summary, which this gateway
 * makes of the whole text. Ignores a summary next to a foreign carrier, because it is incomplete. Never throws.
 */
export function readReasoningItem({ fields }: Item, unpacker: ReasoningUnpacker): string {
  const { encrypted_content: carrier, content, summary } = fields;
  const carried = typeof carrier === "string" ? unpacker.unpack(carrier) : "";
  if (carried !== "") return carried;
  const text = joinTexts(content);
  if (text !== "") return text;
  const isForeign = typeof carrier === "string" && carrier !== "" && !isOwnCarrier(carrier);
  return isForeign ? "" : joinTexts(summary);
}

function joinTexts(list: unknown): string {
  if (!Array.isArray(list)) return "";
  return list
    .filter(isJsonObject)
    .map(({ text }) => text)
    .filter((text): text is string => typeof text === "string" && text !== "")
    .join(PARAGRAPH);
}
