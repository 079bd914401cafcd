/** Organizations, from when they are made until they are deleted and after that. */
import { storeOf } from "../run.ts";
import type { DeletedOrganizationStore, OrganizationStore } from "../types/management.ts";
import { deletedOrganizationOperations } from "./deleted-organizations.ts";
import { organizationOperations } from "./organizations.ts";

export const createOrganizationStore = storeOf<OrganizationStore & DeletedOrganizationStore>({
  ...organizationOperations,
  ...deletedOrganizationOperations,
});
