/**
 * Globals of Node that are getters: each use takes three times as long as that of an import. The build puts these imports
 * wherever a module or a package uses the global.
 */
export { Buffer } from "node:buffer";
export { performance } from "node:perf_hooks";
export { default as process } from "node:process";
