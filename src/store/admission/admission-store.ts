/** May this key send this request, and how full its buckets are. */
import { timeMs } from "../redis/clock.ts";
import type { Run } from "../run.ts";
import type { AdmissionStore } from "../types/admission.ts";
import { admit, findKeyReference } from "./admit.ts";
import { readBuckets } from "./buckets.ts";
import { announceWorker } from "./workers.ts";

export function createAdmissionStore(run: Run): AdmissionStore {
  return {
    lookUpKey: (sha256Hex) => run("lookUpKey", (context) => findKeyReference(context, sha256Hex)),
    admit: (input) => run("admit", (context) => admit(context, input)),
    readBuckets: (organizationId, keyIds) =>
      run("readBuckets", (context) => readBuckets(context, organizationId, keyIds)),
    timeMs: () => run("timeMs", (context) => timeMs(context)),
    announceWorker: (workerId, countsForMs) =>
      run("announceWorker", (context) => announceWorker(context, workerId, countsForMs)),
  };
}
