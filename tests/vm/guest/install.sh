# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Puts the programs of the job where sandboxes see them. Sourced by the jobs of the test machine.
mkdir -p /opt/ak
cp /job/ak /job/ak-weak /job/vmtool /opt/ak/
cat >/opt/ak/as-user <<'X'
#!/bin/bash
exec setpriv --reuid "$1" --regid "$1" --init-groups env -i HOME="/home/$1" USER="$1" PATH="$PATH" LANG=C.UTF-8 "${@:2}"
X
chmod 755 /opt/ak /opt/ak/*
install -d -m 755 -o aktest -g aktest /home/aktest
install -d -m 755 -o akother -g akother /home/akother
mkdir -m 1777 /home/tests
