#!/usr/bin/env bash
# Makes elements.png, the picture in README.md: a photograph (chelsea, CC0, from
# python3-skimage) and what each element makes of it.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../pipelines/setup.sh"

WIDTH=264
HEIGHT=176

# tile COLUMN ROW LABEL ELEMENT: sets up one tile of the compositor.
tile () {
  layout+=("sink_$n::xpos=$(($1 * (WIDTH + 4)))" "sink_$n::ypos=$(($2 * (HEIGHT + 4)))")
  tiles+=(filesrc location="$photo" ! pngdec ! videoconvert ! videoscale add-borders=false
    ! "video/x-raw,format=RGB,width=$WIDTH,height=$HEIGHT,pixel-aspect-ratio=1/1")
  # the words of the element's line are arguments
  # shellcheck disable=SC2206
  tiles+=(! $4 ! videoconvert
    ! textoverlay text="$3" font-desc="Sans Bold 16" valignment=bottom
    halignment=left shaded-background=true ! sheet.sink_$n)
  n=$((n + 1))
}

prepare gstreamer1.0-x fonts-dejavu-core
sample_photos
photo=${PHOTOS[1]}
out=$ROOT/doc/elements.png
layout=()
tiles=()
n=0
tile 0 0 original identity
tile 1 0 cudainvert cudainvert
tile 2 0 cudathreshold 'cudathreshold method=otsu'
tile 0 1 cudasobel cudasobel
tile 1 1 cudagaussian cudagaussian
tile 2 1 cudafftmag cudafftmag
"$BUILD/pipelines/launch" compositor name=sheet background=white "${layout[@]}" \
  ! video/x-raw,format=RGB ! pngenc snapshot=true compression-level=9 \
  ! filesink location="$out" "${tiles[@]}"
say "$out"
