#!/usr/bin/env bash
# The whole thing at work: installs what is missing, builds, and filters
# photographs and a video. See usage () below, or --help.
set -euo pipefail
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

ELEMENTS=(cudainvert cudathreshold cudasobel cudagaussian cudafftmag)
# A video as an ink drawing: less noise, edges, black and white, black on white.
CHAIN='cudagaussian kernel-width=7 ! cudasobel'
CHAIN+=' ! cudathreshold method=otsu ! cudainvert'
OUT=demo-output
FILES=()
FAILED=0
RESULTS=()
SPEEDS=()
BACKENDS=()

usage () {
  cat <<END
usage: pipelines/demo.sh [--out DIRECTORY] [FILE...]

Installs what is missing (Debian, Ubuntu), builds the plugin in build/, sends
each picture through each of the five elements, and each video through
    $CHAIN
and writes the results, PNG and H.264 in MP4 without sound, to DIRECTORY
(demo-output). Without FILE: photographs that Debian ships, and a video made
of them. It overwrites only what it made from the same file before.
END
}

parse_arguments () {
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --out) [ $# -ge 2 ] || die "--out needs a directory"; OUT=$2; shift ;;
      --out=*) OUT=${1#--out=} ;;
      --) shift; FILES+=("$@"); return ;;
      -*) die "no option $1; see --help" ;;
      *) FILES+=("$1") ;;
    esac
    shift
  done
}

# fail FILE TEXT: says what is wrong with it, and the demo goes on.
fail () {
  printf '*** %s: %s\n' "$1" "$2" >&2
  FAILED=1
}

# output_name SOURCE SUFFIX: sets NAME to a name in $OUT that is free, or that
# holds what an earlier run made of SOURCE. The file .sources knows which.
output_name () {
  local stem n=1
  stem=$(basename -- "$1")
  stem=${stem%.*}
  stem=${stem#.}
  NAME=$stem-$2
  while [ -e "$OUT/$NAME" ] || [ -L "$OUT/$NAME" ]; do
    ! grep -Fqxs -- "$NAME	$1" "$OUT/.sources" || return 0
    n=$((n + 1))
    NAME=$stem-${2%.*}-$n.${2##*.}
  done
}

# keep SOURCE SUFFIX: gives the result of the last pipeline its name.
keep () {
  output_name "$1" "$2"
  mv -f -- "$WORK/out" "$OUT/$NAME" || return 1
  grep -Fqxs -- "$NAME	$1" "$OUT/.sources" ||
    printf '%s\t%s\n' "$NAME" "$1" >>"$OUT/.sources"
  RESULTS+=("$NAME")
}

# filter DESCRIPTION: runs a pipeline from $WORK/in to $WORK/out.
filter () {
  rm -f "$WORK/out" "$WORK/report"
  # the words of the description are the arguments
  # shellcheck disable=SC2086
  "$BUILD/pipelines/launch" --report="$WORK/report" \
    filesrc location="$WORK/in" ! $1 ! filesink location="$WORK/out" ||
    return 1
  if ! [ -s "$WORK/out" ] || grep -qx frames=0 "$WORK/report"; then
    say "  error: no frame came out"
    return 1
  fi
}

report () {
  sed -n "s/^$1=//p" "$WORK/report"
}

# note_backend: remembers where the last pipeline ran.
note_backend () {
  local note
  while IFS= read -r note; do
    [[ " ${BACKENDS[*]-} " == *"$note"* ]] || BACKENDS+=("$note")
  done < <(report note)
}

# do_picture NAME SOURCE: NAME is what the user called it.
do_picture () {
  local element
  for element in "${ELEMENTS[@]}"; do
    say "$1: $element"
    if ! filter "decodebin ! videoconvert ! videoflip video-direction=auto
        ! $element ! identity name=frames ! videoconvert
        ! pngenc snapshot=true"; then
      fail "$1" "could not be filtered by $element (reason above)"
      return
    fi
    note_backend
    keep "$2" "$element.png" || fail "$1" "no result in $OUT"
  done
}

do_video () {
  say "$1: $CHAIN"
  if ! filter "decodebin ! videoconvert ! queue ! $CHAIN
      ! identity name=frames ! queue ! videoconvert ! videoscale
      ! video/x-raw,format=I420,width=[2,32768,2],height=[2,32768,2]
      ! x264enc speed-preset=veryfast ! h264parse ! mp4mux"; then
    fail "$1" "could not be filtered (reason above)"
    return
  fi
  note_backend
  keep "$2" filtered.mp4 || fail "$1" "no result in $OUT"
  SPEEDS+=("$NAME: $(awk -v n="$(report frames)" -v s="$(report seconds)" \
    'BEGIN { printf "%.1f (%d frames in %.2f s)", (s > 0 ? n / s : 0), n, s }')")
}

# do_file FILE: decides by its content what it is.
do_file () {
  local source type
  if ! [ -e "$1" ]; then
    fail "$1" "no such file"
  elif ! [ -f "$1" ] || ! [ -r "$1" ]; then
    fail "$1" "not a readable file"
  else
    source=$(realpath -- "$1")
    ln -sfn -- "$source" "$WORK/in"
    type=$(gst-typefind-1.0 "$WORK/in" 2>/dev/null | sed -n 's/^.* - //p')
    case $type in
      image/*) do_picture "$1" "$source" ;;
      video/* | application/*) do_video "$1" "$source" ;;
      '' | FAILED*) fail "$1" "neither a picture nor a video" ;;
      *) fail "$1" "neither a picture nor a video, but $type" ;;
    esac
  fi
}

summary () {
  local line
  say ""
  say "Results in $OUT:"
  for line in "${RESULTS[@]}"; do
    say "  $line"
  done
  for line in "${BACKENDS[@]}"; do
    say "Backend: $line"
  done
  for line in "${SPEEDS[@]}"; do
    say "Frames per second, with decoding and encoding: $line"
  done
}

parse_arguments "$@"
say "[1/3] Packages and build"
prepare
mkdir -p -- "$OUT" || die "$OUT: cannot be made"
OUT=$(realpath -- "$OUT")
[ -w "$OUT" ] || die "$OUT: cannot be written"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
if [ ${#FILES[@]} -eq 0 ]; then
  say "[2/3] Sample photographs and video"
  sample_photos
  sample_video
  FILES=("${PHOTOS[0]}" "$VIDEO")
else
  say "[2/3] Your files: ${#FILES[@]}"
fi
say "[3/3] Filtering"
for file in "${FILES[@]}"; do
  do_file "$file"
done
[ ${#RESULTS[@]} -eq 0 ] || summary
if [ $FAILED -ne 0 ]; then
  say "Some files could not be done: see the lines with *** above."
  exit 1
fi
