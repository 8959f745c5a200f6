#!/usr/bin/env bash
# Runs what users run, in an empty folder: the demo on its own files and on
# files that are broken, missing or oddly named, and each recipe. Looks at what
# they leave behind. BUILD names the build directory to use.
set -uo pipefail
PIPELINES=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../pipelines" && pwd)
: "${BUILD:?the build directory to test}"
passed=0
failed=0
skipped=0

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
unset DISPLAY WAYLAND_DISPLAY

# check NAME COMMAND...: one test, which passes if the command does.
check () {
  local name=$1
  shift
  if "$@" >log 2>&1; then
    passed=$((passed + 1))
    printf 'ok   %s\n' "$name"
  else
    failed=$((failed + 1))
    sed 's/^/  /' log
    printf 'FAIL %s\n' "$name"
  fi
}

skip () {
  skipped=$((skipped + 1))
  printf 'skip %s: %s\n' "$1" "$2"
}

demo () {
  timeout 300 "$PIPELINES/demo.sh" "$@"
}

# type_is FILE TYPE
type_is () {
  gst-typefind-1.0 "$1" | grep -q -- "- $2"
}

demo_alone () {
  demo && [ -s demo-output/coffee-cudafftmag.png ] &&
    [ "$(find demo-output -name 'coffee-*.png' | wc -l)" -eq 5 ] &&
    type_is demo-output/photos-filtered.mp4 video/quicktime &&
    grep -q '^Backend: Running on' log &&
    grep -q '^Frames per second.* photos-filtered.mp4: .*(300 frames' log
}

# a second run replaces its own results and adds none
demo_again () {
  local before
  before=$(find demo-output | sort)
  demo && [ "$before" = "$(find demo-output | sort)" ]
}

demo_broken_files () {
  local name
  head -c 2000 "$PICTURE" >broken.png
  echo text >text.png
  : >empty.png
  mkdir folder.png
  cp "$PICTURE" good.png
  ! demo --out broken broken.png text.png empty.png folder.png missing.png \
    good.png || return 1
  for name in broken.png text.png empty.png folder.png missing.png; do
    grep -q "^\*\*\* .*$name: " log || return 1
  done
  [ "$(find broken -name '*.png' | wc -l)" -eq 5 ] &&
    [ -s broken/good-cudasobel.png ]
}

# two pictures of one name, results that stood there before, originals inside
# the output folder
demo_overwrites_nothing () {
  mkdir -p a b same
  cp "$PICTURE" a/p.png
  cp "$PICTURE" b/p.png
  cp "$PICTURE" same/p-cudasobel.png
  echo mine >same/p-cudainvert.png
  demo --out same a/p.png b/p.png same/p-cudasobel.png || return 1
  cmp "$PICTURE" same/p-cudasobel.png &&
    [ "$(cat same/p-cudainvert.png)" = mine ] &&
    [ "$(find same -name '*.png' | wc -l)" -eq 17 ]
}

demo_odd_names () {
  # shellcheck disable=SC2016 # the $ belongs to the name
  local name='it'\''s "a" b!c $d \e %d.png'
  cp "$PICTURE" "$name"
  cp "$PICTURE" ./-dash.png
  demo --out='out "x" y' "$name" -- -dash.png &&
    [ -s "out \"x\" y/${name%.png}-cudasobel.png" ] &&
    [ -s 'out "x" y/-dash-cudasobel.png' ]
}

# sizes that H.264 in 4:2:0 cannot hold
demo_odd_video () {
  gst-launch-1.0 -q videotestsrc num-buffers=20 \
    ! video/x-raw,width=101,height=75,framerate=10/1 ! jpegenc ! avimux \
    ! filesink location=odd.avi &&
    demo --out odd odd.avi && [ -s odd/odd-filtered.mp4 ]
}

camera () {
  timeout 60 "$PIPELINES/camera.sh" "" 2 && grep -q 'frames/s' log
}

video_cpu () {
  timeout 200 "$PIPELINES/video-cpu.sh" && type_is video-cpu.mp4 video/quicktime
}

video_gpu () {
  timeout 200 "$PIPELINES/video-gpu.sh" && type_is video-gpu.mp4 video/quicktime
}

snapshot () {
  timeout 60 "$PIPELINES/snapshot.sh" && type_is snapshot.png image/png
}

pictures () {
  timeout 60 "$PIPELINES/pictures.sh" &&
    [ "$(find pictures-output -name '*.png' | wc -l)" -eq 3 ]
}

embed_c () {
  "$BUILD/pipelines/embed" "$PICTURE" c.png && type_is c.png image/png &&
    grep -q '^100 frames' log
}

embed_python () {
  timeout 60 "$PIPELINES/embed.py" "$PICTURE" py.png &&
    type_is py.png image/png && grep -q '^100 frames' log
}

# an error in the chain, or no picture: exit status 1, and no hanging
embed_errors () {
  local program
  for program in "$BUILD/pipelines/embed" "$PIPELINES/embed.py"; do
    timeout 20 "$program" "$PICTURE" e.png 'identity error-after=5'
    [ $? -eq 1 ] || return 1
    timeout 20 "$program" /etc/passwd e.png
    [ $? -eq 1 ] || return 1
  done
  [ ! -e e.png ]
}

# shellcheck source=pipelines/setup.sh
. "$PIPELINES/setup.sh"
sample_photos
PICTURE=${PHOTOS[0]}
use_plugin "$BUILD"

check 'demo.sh' demo_alone
check 'demo.sh, a second time' demo_again
check 'demo.sh, broken files' demo_broken_files
check 'demo.sh, nothing is overwritten' demo_overwrites_nothing
check 'demo.sh, odd file names' demo_odd_names
check 'demo.sh, a video of odd size' demo_odd_video
check 'camera.sh' camera
check 'video-cpu.sh' video_cpu
if gst-inspect-1.0 nvh264dec >/dev/null 2>&1; then
  check 'video-gpu.sh' video_gpu
else
  skip 'video-gpu.sh' 'no nvh264dec on this machine'
fi
check 'snapshot.sh' snapshot
check 'pictures.sh' pictures
check 'embed.c' embed_c
check 'embed.py' embed_python
check 'embed.c and embed.py, errors' embed_errors
printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ]
