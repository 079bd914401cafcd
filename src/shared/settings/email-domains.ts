/** Whether an operator lets organizations name an address: by what follows its last "@". */
export function isAllowedAddress(address: string, allowedDomains: readonly string[] | null): boolean {
  return allowedDomains?.includes(address.slice(address.lastIndexOf("@") + 1).toLowerCase()) ?? true;
}
