import type { Admission } from "../../../src/data-path/limits/admission.ts";
import { ADMISSION as ANY_ADMISSION } from "../settlement/settlement-fixture.ts";

/** Of a key that may use one model. */
export const ADMISSION: Admission = {
  ...ANY_ADMISSION,
  requestId: "req_1",
  organizationId: "org_1",
  models: ["acme/a"],
};
