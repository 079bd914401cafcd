import { UPSTREAM_PROTOCOLS } from "../../contract/model-profile.ts";
import { choices } from "./fields.ts";

/** `protocols` of an upstream or of a model. */
export function protocols() {
  return choices(UPSTREAM_PROTOCOLS, "protocols").refine((given) => given.length > 0, {
    error: "expected at least one protocol",
  });
}
