#!/bin/bash
# The compiler $COMPILER, with its last argument changed by the sed script $PLANT.
set -e
source=${!#}
changed=$(dirname "$source")/changed-$(basename "$source")
sed -e "$PLANT" "$source" > "$changed"
exec "$COMPILER" "${@:1:$#-1}" "$changed"
