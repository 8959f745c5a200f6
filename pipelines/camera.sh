#!/usr/bin/env bash
# Edges of what the camera sees, live.
#
#   camera.sh [DEVICE [SECONDS]]
#
# DEVICE: a V4L2 camera (the first one); without a camera, a live test source.
# Shows a window with the frame rate where there is a display, else prints the
# frame rate. SECONDS: how long; else until Ctrl-C or, without display, 10.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

device=${1:-}
if [ -z "$device" ]; then
  for device in /dev/video*; do
    [ -c "$device" ] && break
    device=
  done
elif ! [ -c "$device" ]; then
  die "$device: no such camera"
fi
seconds=${2:-}
[[ $seconds =~ ^[0-9]*$ ]] || die "$seconds: not a number of seconds"

prepare
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  sink='videoconvert ! fpsdisplaysink'
else
  sink='fakesink sync=true'
  seconds=${seconds:-10}
  say "No display: printing the frame rate for $seconds s"
fi
if [ -n "$device" ]; then
  say "Camera: $device"
  source=(v4l2src device="$device")
else
  say "No camera: a live test picture"
  source=(videotestsrc is-live=true pattern=ball
    ! 'video/x-raw,width=1280,height=720,framerate=30/1')
fi

# cudagaussian takes noise away, cudasobel finds edges. On a GPU, frames go up
# once before the first and come down once after the second.
# shellcheck disable=SC2086
exec timeout --foreground --signal=INT --preserve-status "${seconds:-0}" \
  "$BUILD/pipelines/launch" "${source[@]}" ! videoconvert ! queue \
  ! cudagaussian kernel-width=5 ! cudasobel ! identity name=frames ! $sink
