/**
 * `node:http` for the bundle. An import makes Node read each export of the module at once, and one of them is a getter that
 * loads undici: 0.06 s of CPU and 15 MB that no process needs.
 */
module.exports = process.getBuiltinModule("node:http");
