/** The store, on Redis. Each function stands in the file of its subject; this binds them to one client. */
import { admit, findKeyReference } from "./admission/admit.ts";
import { countUnreadAlerts, findAlert, listAlerts, markAlertsRead, redeliverAlert } from "./alerts/alerts.ts";
import {
  changeKey,
  createKey,
  deleteKey,
  getKey,
  listKeys,
  revokeAllKeys,
  rotateKey,
} from "./management/api-keys.ts";
import { addAuditEntry, listAuditEntries } from "./management/audit.ts";
import { readBuckets } from "./admission/buckets.ts";
import type { RedisClient } from "./redis/client.ts";
import { timeMs } from "./redis/clock.ts";
import type { StoreContext } from "./context.ts";
import { claimDelivery, finishDelivery, listOwedDeliveries, renewDelivery } from "./alerts/deliveries.ts";
import { monthAt } from "../calendar.ts";
import {
  changeOrganization,
  createOrganization,
  getOrganization,
  listOrganizationIds,
  listOrganizations,
  searchOrganizations,
} from "./management/organizations.ts";
import { raiseUsage } from "./usage/raise-usage.ts";
import { findRequest, listRequests, recordRequest } from "./requests/recent.ts";
import { repair } from "./management/repair.ts";
import { charge, close, forget, hold, listOverdue, renew } from "./requests/requests.ts";
import { createSession, endSession, findSession } from "./management/sessions.ts";
import { createToken, deleteToken, findToken, listTokens } from "./management/tokens.ts";
import type { Store } from "./types.ts";
import type { AlertStore } from "./types/alerts.ts";
import type { AuditStore } from "./types/audit.ts";
import type { ManagementStore } from "./types/management.ts";
import type { SessionStore } from "./types/sessions.ts";
import type { TokenStore } from "./types/tokens.ts";
import { correct, readSpend, readUsage } from "./usage/usage.ts";
import { announceWorker } from "./admission/workers.ts";

export interface StoreOptions {
  readonly client: RedisClient;
  /** Whole months that figures are kept after their month has ended. */
  readonly usageMonths: number;
}

/** The client stays the caller's: it connects and disconnects it. */
export function createStore({ client, usageMonths }: StoreOptions): Store {
  // A guess by this host's clock; the first answer of Redis puts it right.
  const context: StoreContext = {
    client,
    usageMonths,
    month: { current: monthAt(Date.now()) },
    alerts: { fired: 0 },
  };
  return {
    ...bindManagement(context),
    ...bindTokens(context),
    ...bindAlerts(context),
    get firedAlerts() {
      return context.alerts.fired;
    },
    lookUpKey: (sha256Hex) => findKeyReference(context, sha256Hex),
    admit: (input) => admit(context, input),
    hold: (input) => hold(context, input),
    charge: (input) => charge(context, input),
    renew: (organizationId, requests) => renew(context, organizationId, requests),
    listOverdue: (organizationId, limit) => listOverdue(context, organizationId, limit),
    close: (request) => close(context, request),
    forget: (organizationId, requestIds) => forget(context, organizationId, requestIds),
    recordRequest: (request) => recordRequest(context, request),
    findRequest: (organizationId, requestId, keyId) => findRequest(context, organizationId, requestId, keyId),
    listRequests: (organizationId, page) => listRequests(context, organizationId, page),
    readSpend: (organizationId, month, keyIds = null) => readSpend(context, organizationId, month, keyIds),
    readBuckets: (organizationId, keyIds) => readBuckets(context, organizationId, keyIds),
    readUsage: (organizationId, month) => readUsage(context, organizationId, month),
    correct: (input, audit) => correct(context, input, audit),
    raiseUsage: (organizationId, row) => raiseUsage(context, organizationId, row),
    timeMs: () => timeMs(context),
    announceWorker: (workerId, countsForMs) => announceWorker(context, workerId, countsForMs),
  };
}

function bindManagement(context: StoreContext): ManagementStore {
  return {
    createOrganization: (settings, audit) => createOrganization(context, settings, audit),
    getOrganization: (organizationId) => getOrganization(context, organizationId),
    listOrganizations: (page) => listOrganizations(context, page),
    searchOrganizations: (text, page) => searchOrganizations(context, text, page),
    listOrganizationIds: () => listOrganizationIds(context),
    changeOrganization: (organizationId, changes, expectedVersion, audit) =>
      changeOrganization(context, organizationId, changes, expectedVersion, audit),
    createKey: (organizationId, settings, key, audit) =>
      createKey(context, organizationId, settings, key, audit),
    getKey: (reference) => getKey(context, reference),
    listKeys: (organizationId, page) => listKeys(context, organizationId, page),
    changeKey: (reference, changes, expectedVersion, audit) =>
      changeKey(context, reference, changes, expectedVersion, audit),
    rotateKey: (reference, key, graceMs, audit) => rotateKey(context, reference, key, graceMs, audit),
    deleteKey: (reference, audit) => deleteKey(context, reference, audit),
    revokeAllKeys: (organizationId) => revokeAllKeys(context, organizationId),
    repair: () => repair(context),
  };
}

function bindTokens(context: StoreContext): TokenStore & SessionStore & AuditStore {
  return {
    createToken: (organizationId, settings, token, audit) =>
      createToken(context, organizationId, settings, token, audit),
    findToken: (sha256Hex) => findToken(context, sha256Hex),
    listTokens: (organizationId, page) => listTokens(context, organizationId, page),
    deleteToken: (organizationId, tokenId, audit) => deleteToken(context, organizationId, tokenId, audit),
    createSession: (sha256Hex, holder, lifetimeMs) => createSession(context, sha256Hex, holder, lifetimeMs),
    findSession: (sha256Hex) => findSession(context, sha256Hex),
    endSession: (sha256Hex) => endSession(context, sha256Hex),
    addAuditEntry: (organizationId, entry) => addAuditEntry(context, organizationId, entry),
    listAuditEntries: (organizationId, page) => listAuditEntries(context, organizationId, page),
  };
}

function bindAlerts(context: StoreContext): Omit<AlertStore, "firedAlerts"> {
  return {
    listAlerts: (organizationId, page) => listAlerts(context, organizationId, page),
    findAlert: (organizationId, alertId) => findAlert(context, organizationId, alertId),
    countUnreadAlerts: (organizationId) => countUnreadAlerts(context, organizationId),
    markAlertsRead: (organizationId) => markAlertsRead(context, organizationId),
    redeliverAlert: (alert, channels) => redeliverAlert(context, alert, channels),
    claimDelivery: (organizationId, channel, owner, leaseMs) =>
      claimDelivery(context, organizationId, channel, owner, leaseMs),
    renewDelivery: (organizationId, channel, owner, leaseMs) =>
      renewDelivery(context, organizationId, channel, owner, leaseMs),
    finishDelivery: (input) => finishDelivery(context, input),
    listOwedDeliveries: (organizationId) => listOwedDeliveries(context, organizationId),
  };
}
