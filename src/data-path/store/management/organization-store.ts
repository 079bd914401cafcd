/** Operations on organizations, current and deleted. */
import { storeOf } from "../run.ts";
import type { DeletedOrganizationStore, OrganizationStore } from "../../../shared/stored/management.ts";
import { deletedOrganizationOperations } from "./deleted-organizations.ts";
import { organizationOperations } from "./organizations.ts";

export const createOrganizationStore = storeOf<OrganizationStore & DeletedOrganizationStore>({
  ...organizationOperations,
  ...deletedOrganizationOperations,
});
