/**
 * Globals of Node that are getters: each use takes three times as long as an import. The build injects these
 * imports wherever code uses the global.
 */
export { Buffer } from "node:buffer";
export { performance } from "node:perf_hooks";
export { default as process } from "node:process";
