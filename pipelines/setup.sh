# shellcheck shell=bash
# What every script here shares: installing what is missing, building the
# plugin, sample pictures and a sample video. To be sourced by bash, not run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${BUILD:-$ROOT/build}

# The Debian and Ubuntu packages that this project needs, in one place.
PACKAGES_BUILD=(gcc g++ libc6-dev meson ninja-build pkg-config
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
  libgstreamer-plugins-bad1.0-dev libkissfft-dev)
PACKAGES_RUN=(gstreamer1.0-tools gstreamer1.0-plugins-base
  gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly
  gstreamer1.0-libav)
PACKAGES_PYTHON=(python3 python3-gi python3-numpy gir1.2-gstreamer-1.0
  gir1.2-gst-plugins-base-1.0)
PACKAGES_BATCH=("${PACKAGES_PYTHON[@]}" python3-dask python3-distributed)
# shellcheck disable=SC2034 # used by tests/run.sh
PACKAGES_TEST=("${PACKAGES_BATCH[@]}" python3-opencv python3-skimage
  gstreamer1.0-opencv valgrind)

say () {
  printf '%s\n' "$*"
}

die () {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# as_root COMMAND...: with sudo where the caller is not root.
as_root () {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "not root and no sudo here; as root, run: $*"
  fi
}

apt_get () {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -q "$@"
}

# missing_packages PACKAGE...: those that are not installed.
missing_packages () {
  local package
  for package; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || printf '%s\n' "$package"
  done
}

# install_packages PACKAGE...: installs what is missing, and only that.
install_packages () {
  local missing
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "No apt-get here: taking it that these are installed (their Debian" \
      "names): $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing: ${missing[*]}"
  apt_get update || say "apt-get update failed; trying with the lists at hand"
  apt_get install -y --no-install-recommends "${missing[@]}" ||
    die "could not install: ${missing[*]}"
}

have_driver () {
  { /sbin/ldconfig -p 2>/dev/null || true; } | grep -q 'libcuda\.so\.1' ||
    nvidia-smi -L >/dev/null 2>&1
}

# Puts nvcc on PATH if it is installed anywhere usual.
find_nvcc () {
  local dir
  ! command -v nvcc >/dev/null || return 0
  for dir in /usr/local/cuda/bin /opt/cuda/bin; do
    if [ -x "$dir/nvcc" ]; then
      PATH=$PATH:$dir
      return 0
    fi
  done
  return 1
}

# Where there is an NVIDIA driver but no CUDA compiler: installs one. A failure
# is no error, for everything runs on the CPU as well.
install_nvcc () {
  if find_nvcc || ! have_driver; then
    return 0
  fi
  say "NVIDIA driver found, but no nvcc: installing nvidia-cuda-toolkit"
  if command -v apt-get >/dev/null && (
    # a subshell, for no sudo would end the script
    apt_get update &&
      apt_get install -y --no-install-recommends nvidia-cuda-toolkit
  ) && find_nvcc; then
    return 0
  fi
  say "*** nvidia-cuda-toolkit could not be installed (on Debian it is in" \
    "the component non-free; NVIDIA's own repository has it too)." \
    "The plugin is built for the CPU only. Once you have nvcc, delete" \
    "$BUILD and come again. ***"
}

# The machine code for the GPUs of this machine if they are all alike and nvcc
# knows them (quick to compile), else that for all GPUs.
gpu_arch () {
  local arch
  arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    tr -d '. ' | sort -u)
  if [[ $arch =~ ^[0-9]+$ ]] && [ "$arch" -ge 75 ] &&
      nvcc --list-gpu-arch 2>/dev/null | grep -qx "compute_$arch"; then
    printf 'sm_%s\n' "$arch"
  else
    printf 'all-major\n'
  fi
}

# build_plugin DIRECTORY TARGET MESON-OPTION...: configures DIRECTORY the first
# time, for which the options count, and compiles TARGET (`all`, or `demo` for
# what the scripts of this folder need).
build_plugin () {
  local dir=$1 target=$2
  shift 2
  if [ ! -f "$dir/build.ninja" ]; then
    meson setup "$dir" "$ROOT" "$@" || die "meson setup failed"
  fi
  ninja -C "$dir" "$target" || die "the build failed"
}

# use_plugin DIRECTORY: makes GStreamer find the plugin of that build.
use_plugin () {
  export GST_PLUGIN_PATH=$1/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  export GST_REGISTRY=$1/registry.bin
}

# prepare PACKAGE...: for the scripts of this folder: installs (PACKAGE besides
# the usual ones), builds and finds the plugin.
prepare () {
  install_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_RUN[@]}" "$@"
  [ -f "$BUILD/build.ninja" ] || install_nvcc
  if find_nvcc; then
    build_plugin "$BUILD" demo -Dgpu_arch="$(gpu_arch)"
  else
    build_plugin "$BUILD" demo
  fi
  use_plugin "$BUILD"
  gst-inspect-1.0 cudainvert >/dev/null 2>&1 ||
    die "GStreamer does not load $BUILD/gst/libgstcudafilters.so"
}

# The photographs of fetch_photos and sample_photos: in the public domain, and
# shipped with Debian's python3-skimage (coffee and chelsea: CC0; rocket: NASA).
PHOTO_NAMES=(coffee.png chelsea.png rocket.jpg)
PHOTO_DIR=/usr/lib/python3/dist-packages/skimage/data

# fetch_photos DIRECTORY: takes them out of the package without installing it.
fetch_photos () {
  command -v apt-get >/dev/null ||
    die "no sample photographs here (they are in Debian's python3-skimage):" \
      "please name files of your own"
  say "Fetching sample photographs from the package python3-skimage"
  rm -rf "$1.part"
  mkdir -p "$1.part"
  (cd "$1.part" &&
    apt-get -q -o APT::Sandbox::User=root download python3-skimage &&
    dpkg-deb --fsys-tarfile python3-skimage_*.deb |
      tar -x --transform 's|.*/||' "${PHOTO_NAMES[@]/#/.$PHOTO_DIR/}" &&
    rm python3-skimage_*.deb) || die "could not fetch python3-skimage"
  mv "$1.part" "$1"
}

# sample_photos: sets PHOTOS.
sample_photos () {
  local dir=$PHOTO_DIR
  if [ ! -f "$dir/${PHOTO_NAMES[0]}" ]; then
    dir=$BUILD/photos
    [ -d "$dir" ] || fetch_photos "$dir"
  fi
  # shellcheck disable=SC2034 # for the caller
  PHOTOS=("${PHOTO_NAMES[@]/#/$dir/}")
}

# sample_video: sets VIDEO to an H.264 video made of the photographs.
sample_video () {
  VIDEO=$BUILD/photos.mp4
  if [ ! -s "$VIDEO" ]; then
    sample_photos
    say "Making a video of photographs: $VIDEO"
    "$BUILD/pipelines/pan" "$VIDEO.part" "${PHOTOS[@]}" ||
      die "could not make $VIDEO"
    mv "$VIDEO.part" "$VIDEO"
  fi
}

# need_file FILE: stops with a message if it cannot be read.
need_file () {
  [ -e "$1" ] || die "$1: no such file"
  if ! [ -f "$1" ] || ! [ -r "$1" ]; then
    die "$1: not a readable file"
  fi
}
