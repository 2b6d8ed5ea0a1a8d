#!/usr/bin/env bash
# Compiles Verilator's library once for all benches of a run: Verilator's makefiles put $OBJCACHE, this
# script, before the compiler's commands. Its objects lie in $WIDTHWISE_OBJECTS, named by the command.
# What comes from a design is compiled each time.
set -eu
[[ ${!#} == */verilator/include/* ]] || exec "$@"
while [ "$1" != -o ]; do command+=("$1"); shift; done
object=$2
kept=$WIDTHWISE_OBJECTS/$(printf '%s\n' "${command[@]}" "$@" | sha256sum | cut -c1-64)
[ -e "$kept" ] || {
  "${command[@]}" "$@"
  cp "$object" "$kept.$$"
  mv "$kept.$$" "$kept"
}
cp "$kept" "$object"
