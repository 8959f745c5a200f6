#!/bin/bash
# All benchmarks and the counting test, on a machine with a GPU.
#
#   tests/bench/run-gpu.sh [STEP…]     (in the project's root)
#   STEP: faults frames operations pipelines cpu python
#         (default: all but faults, which take some minutes a release)
#
# Where .gpu/ holds builds with a packed GStreamer for a machine without one
# (.gpu/build-RELEASE, .gpu/enter.sh), every RELEASE is run in its root; else the
# build in BUILD (default: build) is run as it is. Tables go to standard output
# and, with the JSON, to OUT (default: BUILD/bench-results).
set -u -o pipefail

build=${BUILD:-build}
out=${OUT:-$build/bench-results}
work=.gpu/results # where a packed root can write
[ -d .gpu ] || work=$out
cuda=${CUDA_HOME:-/usr/local/cuda}
steps=${*:-frames operations pipelines cpu python}
failed=

releases=
for packed in .gpu/rootfs-*.tar.gz; do
  [ -e "$packed" ] || continue
  packed=${packed#.gpu/rootfs-}
  releases="$releases ${packed%.tar.gz}"
done
releases=${releases:-here}

folder_of() { # RELEASE
  if [ "$1" = here ]; then echo "$build"; else echo ".gpu/build-$1"; fi
}

in_release() { # SECONDS RELEASE COMMAND…
  local seconds=$1 release=$2
  shift 2
  if [ "$release" = here ]; then
    GST_PLUGIN_PATH=$(realpath "$build")/gst timeout "$seconds" "$@"
  else
    timeout "$seconds" bash .gpu/enter.sh "$release" "$@"
  fi
}

step() { # NAME COMMAND…
  local name=$1 begin=$SECONDS result
  shift
  echo "== $name"
  "$@"
  result=$?
  [ $result = 0 ] || failed="$failed $name($result)"
  echo "== $name: exit $result, $((SECONDS - begin)) s"
  echo
}

# NPP's part of bench_operations, where meson could not build it.
build_peers() { # FOLDER
  local library=$1/tests/bench/libbench_peers_npp.so
  [ -e "$library" ] && return
  PATH=$PATH:$cuda/bin nvcc -shared -Xcompiler -fPIC -I cuda \
    tests/bench/peers_npp.cu -o "$library" \
    -lnppial -lnppicc -lnppidei -lnppif -lnppig -lnppist -lnppitc -lnppc ||
    echo "no NPP here: its columns stay empty"
}

# Toolkits keep CUPTI in different places, some in none.
find_cupti() { # FOLDER
  local library
  for library in "$cuda"/lib64 "$cuda"/extras/CUPTI/lib64; do
    [ -e "$library/libcupti.so.13" ] && return
  done
  library=$(python3 -c 'import glob, site
print(*glob.glob(site.getsitepackages()[0] + "/nvidia/*/lib/libcupti.so.13"))')
  cp ${library%% *} "$1/tests/gpu/" || echo "no CUPTI here: nothing is counted"
}

run_steps() {
  local release folder
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || echo "no GPU"
  for release in $releases; do
    folder=$(folder_of "$release")
    case " $steps " in *" frames "* | *" pipelines "*) find_cupti "$folder" ;; esac
    case " $steps " in *" faults "*)
      step "faults $release" in_release 400 "$release" \
        "$folder/tests/gpu/test_faults"
      step "contexts $release" in_release 700 "$release" \
        "$folder/tests/gpu/test_contexts" ;;
    esac
    case " $steps " in *" frames "*)
      step "frames $release" in_release 90 "$release" \
        "$folder/tests/gpu/test_frames_stay" ;;
    esac
  done
  release=${releases##* }
  folder=$(folder_of "$release")
  case " $steps " in *" operations "*)
    build_peers "$folder"
    step operations in_release 150 "$release" \
      "$folder/tests/bench/bench_operations" --json $work/operations.json ;;
  esac
  case " $steps " in *" pipelines "*)
    for release in $releases; do
      folder=$(folder_of "$release")
      step "pipelines $release" in_release 100 "$release" \
        "$folder/tests/bench/bench_pipelines" "$work/pipelines-$release.json"
    done ;;
  esac
  case " $steps " in *" cpu "*)
    step cpu in_release 60 "$release" "$folder/tests/bench/bench_cpu" \
      $work/cpu.json ;;
  esac
  case " $steps " in *" python "*)
    step python timeout 120 python3 tests/bench/bench_python.py \
      --ours $work/operations.json --json $work/python.json ;;
  esac
  grep -h 'MISSED' "$out/bench.txt" 2>/dev/null
  echo "failed:${failed:- nothing}"
}

mkdir -p "$out" "$work"
run_steps 2>&1 | tee "$out/bench.txt"
[ "$work" = "$out" ] || cp $work/*.json "$out/"
grep -q '^failed: nothing$' "$out/bench.txt"
