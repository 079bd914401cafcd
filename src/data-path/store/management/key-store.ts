/** API keys, and what a crash can have left of them. */
import { storeOf } from "../run.ts";
import type { KeyStore } from "../types/management.ts";
import { keyOperations } from "./api-keys.ts";
import { repair } from "./repair.ts";

export const createKeyStore = storeOf<KeyStore>({ ...keyOperations, repair });
