import { unquoted, unsupportedField } from "../../json/field-error.ts";
import type { ImagePart } from "../../conversation/parts.ts";
import { readName, readObject } from "../../json/read-field.ts";
import type { Block } from "./blocks.ts";

/** Parses an image block. A URL is forwarded as it is; the gateway never fetches it. @throws GatewayError 400 */
export function parseImage({ fields, path }: Block): ImagePart {
  const sourcePath = `${path}.source`;
  const source = readObject(fields["source"], sourcePath);
  const type = readName(source["type"], `${sourcePath}.type`);
  switch (type) {
    case "base64": {
      const mediaType = readName(source["media_type"], `${sourcePath}.media_type`);
      const data = readName(source["data"], `${sourcePath}.data`);
      return { kind: "image", url: `data:${mediaType};base64,${data}`, path };
    }
    case "url":
      return { kind: "image", url: readName(source["url"], `${sourcePath}.url`), path };
    default:
      throw unsupportedField(sourcePath, `${unquoted(type)} sources are not supported`);
  }
}
