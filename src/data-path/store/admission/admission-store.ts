/** Operations of admission: admitting requests, reading bucket levels and announcing workers. */
import { timeMs } from "../redis/clock.ts";
import { storeOf } from "../run.ts";
import type { AdmissionStore } from "../types/admission.ts";
import { admit, findKeyReference } from "./admit.ts";
import { readBuckets } from "./buckets.ts";
import { announceWorker } from "./workers.ts";

export const createAdmissionStore = storeOf<AdmissionStore>({
  lookUpKey: findKeyReference,
  admit,
  readBuckets,
  timeMs,
  announceWorker,
});
