#!/usr/bin/env bash
# Pictures of different sizes through one pipeline, one after the other: the
# caps change in mid-stream, and the filters follow.
#
#   pictures.sh [PICTURE...]
#
# PICTURE: any that GStreamer decodes; without it, sample photographs. Results
# go to a new folder, pictures-output (or -2, -3 …), numbered in order.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

for file; do
  need_file "$file"
done
prepare
if [ $# -eq 0 ]; then
  sample_photos
  set -- "${PHOTOS[@]}"
fi
out=pictures-output
n=1
while ! mkdir "$out" 2>/dev/null; do
  [ -e "$out" ] || die "$out: cannot be made"
  n=$((n + 1))
  out=pictures-output-$n
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# multifilesrc reads numbered files of one kind: a PNG of each
n=0
for file; do
  "$BUILD/pipelines/launch" filesrc location="$file" ! decodebin \
    ! videoconvert ! pngenc snapshot=true \
    ! filesink location="$work/$n.png" >"$work/log" 2>&1 || true
  if ! [ -s "$work/$n.png" ]; then
    cat "$work/log"
    die "$file: not a picture"
  fi
  n=$((n + 1))
done

"$BUILD/pipelines/launch" multifilesrc location="$work/%d.png" index=0 \
  stop-index=$((n - 1)) caps=image/png,framerate=1/1 ! pngdec ! videoconvert \
  ! cudagaussian kernel-width=5 ! cudasobel ! identity name=frames \
  ! videoconvert ! pngenc ! multifilesink location="$out/%03d.png" ||
  die "the pictures could not be filtered"

[ "$(find "$out" -name '*.png' | wc -l)" -eq "$n" ] ||
  die "$out: fewer results than pictures"
say "$n results in $out"
