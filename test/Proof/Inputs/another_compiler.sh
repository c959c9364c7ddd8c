#!/bin/bash
# A compiler that makes something else of the last argument, its source: larger
# workgroups, one argument more, no products.
set -e
source=${!#}
changed=$(dirname "$source")/changed.hip
sed -e 's/WORKGROUP(256/WORKGROUP(512/' -e 's/int m) {/int m, int n) {/' \
  -e 's/mma<.*;/accumulator.v[0] += n;/' "$source" > "$changed"
exec clang-22 "${@:1:$#-1}" "$changed"
