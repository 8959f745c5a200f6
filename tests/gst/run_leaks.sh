#!/bin/sh
# Runs a program of gst-check in one process under GStreamer's leaks tracer and
# fails, with a list, if an object, buffer, caps, event or message outlives it.
#
#   run_leaks.sh PROGRAM
set -u

log=$(mktemp)
trap 'rm -f "$log"' EXIT
CK_FORK=no GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_FILE=$log \
  GST_DEBUG_NO_COLOR=1 "$1"
status=$?

# The tracer describes its records once, so that no leak is not no tracer.
if ! grep -q 'object-alive.class' "$log"; then
  echo "skipped: this GStreamer has no leaks tracer"
  exit 77
fi
leaked=$(grep -o 'object-alive, type-name=(string)[A-Z].*' "$log")
if [ -n "$leaked" ]; then
  echo "leaked:"
  echo "$leaked" | cut -c 1-300
  exit 1
fi
exit $status
