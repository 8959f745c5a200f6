#!/usr/bin/env bash
# An H.264 video decoded on the GPU and filtered there: between the decoder and
# the last filter no frame leaves the GPU.
#
#   video-gpu.sh [FILE [OUT.mp4]]
#
# FILE: a video in H.264; without it, one made of sample photographs.
# OUT.mp4 (video-gpu.mp4) must not exist yet. Sound is left out.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

file=${1:-}
out=${2:-video-gpu.mp4}
[ -z "$file" ] || need_file "$file"
[ ! -e "$out" ] || die "$out is there already"

prepare
gst-inspect-1.0 nvh264dec >/dev/null 2>&1 ||
  die "no nvh264dec here: it needs an NVIDIA GPU with its driver and" \
    "GStreamer's nvcodec plugin; video-cpu.sh does without"
if [ -z "$file" ]; then
  sample_video
  file=$VIDEO
fi

# Some GPUs have no encoder: then the result comes down once for x264enc. The
# element to name for that is videoconvert, which takes system memory only.
if gst-inspect-1.0 nvh264enc >/dev/null 2>&1; then
  encoder='nvh264enc'
else
  say "No nvh264enc here: encoding on the CPU"
  encoder='video/x-raw ! videoconvert ! x264enc speed-preset=veryfast'
fi
# backend=cuda: an error, rather than the CPU, if the GPU cannot be used
# shellcheck disable=SC2086
"$BUILD/pipelines/launch" filesrc location="$file" ! parsebin \
  ! nvh264dec ! cudagaussian backend=cuda ! cudasobel backend=cuda \
  ! identity name=frames ! queue ! $encoder ! h264parse ! mp4mux \
  ! filesink location="$out" || die "$file: could not be filtered"
say "$out"
