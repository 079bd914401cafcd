#!/bin/sh
# Runs a program by a Node that is new enough, with everything that the program starts: the Node on PATH or the default
# one, which install-node.js installs. `exec` leaves the program its signals, its terminal and its exit code.
# Usage: with-node.sh PROGRAM [ARGUMENT …]
set -eu
programs=$(node "$(dirname "$0")/install-node.js")
PATH="$programs${programs:+:}$PATH"
export PATH
exec node "$@"
