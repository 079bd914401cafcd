import type { Admission } from "../../../src/data-path/limits/admission.ts";
import { ADMISSION as ANY_ADMISSION, changeAdmission } from "../settlement/settlement-fixture.ts";

/** Of a key that may use one model. */
export const ADMISSION: Admission = changeAdmission(ANY_ADMISSION, {
  identity: { requestId: "req_1" },
  caller: { models: ["acme/a"] },
});
