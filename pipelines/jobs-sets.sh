#!/usr/bin/env bash
# Several sets of pictures at once: to grey, white above 125, to 200 x 200. All
# in device memory on a GPU, grey in one channel. The sets share the workers.
#
#   jobs-sets.sh [FOLDER...]
#
# Each set goes to a folder of its name in jobs-output. Without FOLDER: two sets
# of sample photographs.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

prepare "${PACKAGES_BATCH[@]}"
if [ $# -eq 0 ]; then
  sample_photos
  for set in one two; do
    mkdir -p "$BUILD/sets/$set"
    cp -- "${PHOTOS[@]}" "$BUILD/sets/$set"
  done
  set -- "$BUILD/sets/one" "$BUILD/sets/two"
fi
exec "$ROOT/pipelines/batch.py" --out jobs-output --chain \
  'cudacvtcolor ! video/x-raw(ANY),format=GRAY8
   ! cudathreshold threshold=125
   ! cudaresize ! video/x-raw(ANY),width=200,height=200' -- "$@"
