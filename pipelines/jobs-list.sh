#!/usr/bin/env bash
# Pictures of different sizes: to BGR, black where a channel is above 105 and
# white elsewhere, to 200 x 200. All in device memory on a GPU.
#
#   jobs-list.sh [PICTURE...]
#
# Results, PNG, go to jobs-output.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

prepare "${PACKAGES_BATCH[@]}"
if [ $# -eq 0 ]; then
  sample_photos
  set -- "${PHOTOS[@]}"
fi
exec "$ROOT/pipelines/batch.py" --out jobs-output --chain \
  'cudacvtcolor ! video/x-raw(ANY),format=BGR
   ! cudathreshold type=binary-inv threshold=105
   ! cudaresize ! video/x-raw(ANY),width=200,height=200' -- "$@"
