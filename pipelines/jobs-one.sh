#!/usr/bin/env bash
# One picture: to BGR and 400 x 400, all in device memory on a GPU.
#
#   jobs-one.sh [PICTURE [DIRECTORY]]
#
# The result, a PNG, goes to DIRECTORY (jobs-output).
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

[ $# -eq 0 ] || need_file "$1"
prepare "${PACKAGES_BATCH[@]}"
if [ $# -eq 0 ]; then
  sample_photos
  set -- "${PHOTOS[0]}"
fi
exec "$ROOT/pipelines/batch.py" --workers 1 --out "${2:-jobs-output}" --chain \
  'cudacvtcolor ! cudaresize
   ! video/x-raw(ANY),format=BGR,width=400,height=400' -- "$1"
