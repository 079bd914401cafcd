/** Operations on API keys, including repairs after crashes. */
import { storeOf } from "../run.ts";
import type { KeyStore } from "../../../shared/stored/management.ts";
import { keyOperations } from "./api-keys.ts";
import { repair } from "./repair.ts";

export const createKeyStore = storeOf<KeyStore>({ ...keyOperations, repair });
