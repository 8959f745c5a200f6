#!/usr/bin/env bash
# Runs the two example applications, embed.c and embed.py.
#
#   embed.sh [c | python [PICTURE [OUT.png [CHAIN]]]]
#
# PICTURE: any that GStreamer decodes; without it, a sample photograph.
# OUT.png: embed.png, overwritten. CHAIN: elements, as for gst-launch-1.0.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

language=${1:-c}
[ $# -eq 0 ] || shift
case $language in
  c) program=$BUILD/pipelines/embed ;;
  python) program=$ROOT/pipelines/embed.py ;;
  *) die "$language: neither c nor python" ;;
esac
[ $# -eq 0 ] || need_file "$1"

prepare "${PACKAGES_PYTHON[@]}"
if [ $# -eq 0 ]; then
  sample_photos
  set -- "${PHOTOS[0]}"
fi
[ $# -ge 2 ] || set -- "$1" embed.png
exec "$program" "$@"
