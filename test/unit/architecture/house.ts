/** The house of the source: its wings, the rooms of each and what they import. */

/** What each name imports, in addition to itself. */
export type Arrows = Readonly<Record<string, readonly string[]>>;

/** The wings of the house, each with the wings that its rooms may import. */
export const WINGS: Arrows = {
  shared: [],
  "data-path": ["shared"],
  envoy: ["shared", "data-path"],
  management: ["shared", "data-path"],
  operation: ["shared", "data-path", "envoy", "management"],
  "main.ts": ["shared", "operation"],
};

/** The rooms of words that every stage shares. */
export const SHARED = ["contract", "money", "usage", "host", "collections", "text", "event-loop", "time"];

/**
 * The imports of each room, in addition to itself and the shared words: no more and no less. An arrow that is not here is
 * a change of the architecture: add it here and renew the picture (house-picture.test.ts), or find another way.
 */
export const ARROWS: Arrows = {
  // shared
  "model-servers": [],
  "envoy-reasons": [],
  config: ["model-servers"],
  settings: ["config"],
  stored: ["settings"],
  telemetry: ["config", "settings"],
  // data-path
  translation: [],
  pricing: ["translation"],
  catalog: ["config", "pricing", "translation"],
  store: ["config", "settings", "stored"],
  auth: ["settings", "store", "stored"],
  limits: ["pricing", "settings", "store", "stored", "translation"],
  grace: ["limits", "settings", "store", "stored"],
  spool: ["store", "stored"],
  "request-log": ["envoy-reasons", "pricing", "store", "stored"],
  settlement: [
    "catalog",
    "grace",
    "limits",
    "pricing",
    "request-log",
    "spool",
    "store",
    "stored",
    "translation",
  ],
  exchange: [
    "auth",
    "catalog",
    "limits",
    "request-log",
    "settings",
    "settlement",
    "stored",
    "telemetry",
    "translation",
  ],
  envoy: ["config", "exchange", "limits", "translation"],
  // management
  oidc: ["config"],
  alerts: ["config", "settings", "store", "stored"],
  admin: [
    "alerts",
    "auth",
    "catalog",
    "config",
    "envoy-reasons",
    "limits",
    "oidc",
    "pricing",
    "settings",
    "store",
    "stored",
    "telemetry",
  ],
  // operation: it puts the other wings together, and no other wing knows it
  demo: ["auth", "catalog", "config", "pricing", "settings", "store", "stored", "telemetry"],
  doctor: ["alerts", "config", "envoy", "envoy-reasons", "model-servers", "store", "stored", "telemetry"],
  setup: [],
  supervisor: ["config", "envoy", "setup"],
  launcher: ["config", "demo", "envoy", "model-servers", "setup", "supervisor"],
  processes: [
    "admin",
    "alerts",
    "auth",
    "catalog",
    "config",
    "demo",
    "doctor",
    "envoy",
    "exchange",
    "grace",
    "request-log",
    "settlement",
    "spool",
    "store",
    "stored",
    "supervisor",
    "telemetry",
    "translation",
  ],
  cli: [
    "config",
    "demo",
    "doctor",
    "envoy",
    "envoy-reasons",
    "launcher",
    "pricing",
    "processes",
    "request-log",
    "settings",
    "setup",
    "store",
    "stored",
    "supervisor",
    "telemetry",
  ],
  "main.ts": ["cli"],
};
