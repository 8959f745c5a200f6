#!/usr/bin/env bash
# One frame of a video, filtered, as PNG.
#
#   snapshot.sh [FILE [SECONDS [OUT.png]]]
#
# FILE: a video (one made of sample photographs); SECONDS: where in it (2);
# OUT.png (snapshot.png) must not exist yet.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

file=${1:-}
seconds=${2:-2}
out=${3:-snapshot.png}
[ -z "$file" ] || need_file "$file"
[[ $seconds =~ ^[0-9]+(\.[0-9]+)?$ ]] || die "$seconds: not a time in seconds"
[ ! -e "$out" ] || die "$out is there already"

prepare
if [ -z "$file" ]; then
  sample_video
  file=$VIDEO
fi

# pngenc snapshot=true ends the stream after one frame; --start seeks to it.
"$BUILD/pipelines/launch" --start="$seconds" filesrc location="$file" \
  ! decodebin ! videoconvert ! cudasobel ! identity name=frames ! videoconvert \
  ! pngenc snapshot=true ! filesink location="$out" ||
  die "$file: no snapshot"
[ -s "$out" ] || die "$file: no frame at $seconds s"
say "$out"
