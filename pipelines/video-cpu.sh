#!/usr/bin/env bash
# A video through a chain of filters, decoded and encoded on the CPU.
#
#   video-cpu.sh [FILE [OUT.mp4]]
#
# FILE: any video that GStreamer decodes, sound is left out; without it, one
# made of sample photographs. OUT.mp4 (video-cpu.mp4) must not exist yet.
# The filters run on a GPU all the same where there is one.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

file=${1:-}
out=${2:-video-cpu.mp4}
[ -z "$file" ] || need_file "$file"
[ ! -e "$out" ] || die "$out is there already"

prepare
if [ -z "$file" ]; then
  sample_video
  file=$VIDEO
fi

# Queues let decoding, filtering and encoding go on at the same time. The first
# videoconvert is for formats that the filters do not take, and passes all
# others on untouched; the second one is for the encoder.
"$BUILD/pipelines/launch" filesrc location="$file" ! decodebin force-sw-decoders=true \
  ! videoconvert ! queue ! cudagaussian ! cudasobel ! identity name=frames \
  ! queue ! videoconvert ! x264enc speed-preset=veryfast ! h264parse ! mp4mux \
  ! filesink location="$out" || die "$file: could not be filtered"
say "$out"
