#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the peers that tests/peers/run.sh compares with, from the npm registry, into FOLDER (outside of the tree; about 150 MB).
# usage: tests/peers/setup.sh FOLDER
set -eu
to=${1:?usage: tests/peers/setup.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$to"
cp "$here/package.json" "$to/"
cd "$to"
npm install --no-audit --no-fund --ignore-scripts --save-exact
