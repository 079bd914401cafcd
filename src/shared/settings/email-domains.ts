/** Returns whether the operator allows organizations to use an address, by the domain after its last "@". */
export function isAllowedAddress(address: string, allowedDomains: readonly string[] | null): boolean {
  return allowedDomains?.includes(address.slice(address.lastIndexOf("@") + 1).toLowerCase()) ?? true;
}
