# shellcheck shell=bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by apps/demo.sh, tests/run.sh, .ci/run and scripts/nightly.sh after scripts/packages.sh: what
# this machine can run, and builds that show how far they are.

# kiln_gpu_capabilities: prints the compute capability of each kind of GPU here ("90"), from 8.0; nothing
# and status 1 where the driver answers no.
kiln_gpu_capabilities() {
  local found
  command -v nvidia-smi >/dev/null || return 1
  found=$(timeout 30 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null) || return 1
  found=$(tr -d ' .' <<<"$found" | awk '/^[0-9]+$/ && $1 >= 80' | sort -nu)
  [[ -n $found ]] || return 1
  printf '%s\n' "$found"
}

# kiln_architecture CAPABILITY: prints what nvcc is asked for: machine code for that GPU or, where this
# nvcc does not know it, portable code of the newest architecture before it.
kiln_architecture() {
  local known before
  known=$(nvcc --list-gpu-arch 2>/dev/null | sed -n 's/^compute_\([0-9]*\)$/\1/p' | sort -nu)
  if [[ -z $known ]] || grep -qx "$1" <<<"$known"; then
    echo "$1-real"
    return
  fi
  before=$(awk -v gpu="$1" '$1 < gpu' <<<"$known" | tail -n 1)
  echo "${before:-80}-virtual"
}

# kiln_choose_backend: sets kiln_backend_arguments for the configure step, so that what this machine can
# run is built, and kiln_backend_sentence, which says what was chosen and why.
kiln_choose_backend() {
  local capabilities capability architectures=
  kiln_find_nvcc
  if ! capabilities=$(kiln_gpu_capabilities); then
    kiln_backend_arguments=(-DKILN_CUDA=OFF)
    kiln_backend_sentence="No GPU here: building for the CPU. 'cmake --preset cuda' builds the GPU module."
  elif ! command -v nvcc >/dev/null; then
    kiln_backend_arguments=(-DKILN_CUDA=OFF)
    kiln_backend_sentence="A GPU, but no nvcc: building for the CPU. With a CUDA toolkit from 12.5 on, 'cmake --preset cuda' builds the GPU module."
  else
    while read -r capability; do
      architectures+="${architectures:+;}$(kiln_architecture "$capability")"
    done <<<"$capabilities"
    # shellcheck disable=SC2034  # read by the scripts that source this one
    kiln_backend_arguments=(-DKILN_CUDA=AUTO "-DCMAKE_CUDA_ARCHITECTURES=$architectures")
    # shellcheck disable=SC2034
    kiln_backend_sentence="Building for the CPU and for the GPU of this machine (architecture $architectures)."
  fi
}

# kiln_configure FOLDER ARGUMENT...: the configure step, silent where it succeeds. A folder that cannot be
# configured as it is (another generator, another source folder) is configured afresh.
kiln_configure() {
  local folder=$1 log
  shift
  mkdir -p "$folder"
  log=$folder/configure.log
  if cmake "$@" >"$log" 2>&1 </dev/null; then return; fi
  if [[ -e $folder/CMakeCache.txt ]] && cmake --fresh "$@" >"$log" 2>&1 </dev/null; then
    echo "$folder held another build and was configured afresh."
    return
  fi
  cat "$log" >&2
  echo "The configure step failed; the output is above and in $log." >&2
  return 1
}

# kiln_jobs: how many compilers may run at once: one for each core, if each has 700 MB of memory.
kiln_jobs() {
  local jobs by_memory bytes
  jobs=$(nproc)
  by_memory=$(awk '/^MemAvailable:/ { print int($2 / 700000) }' /proc/meminfo 2>/dev/null || true)
  if [[ -r /sys/fs/cgroup/memory.max ]] && read -r bytes </sys/fs/cgroup/memory.max &&
    [[ $bytes =~ ^[0-9]+$ ]] && ((bytes / 700000000 < ${by_memory:-jobs})); then
    by_memory=$((bytes / 700000000))
  fi
  if [[ -n $by_memory && $by_memory -lt $jobs ]]; then jobs=$by_memory; fi
  echo $((jobs > 0 ? jobs : 1))
}

# kiln_build FOLDER ARGUMENT...: cmake --build with these arguments. Shows files done and in all, and
# about how long the rest takes: on a terminal in one line that changes, else in a line every
# KILN_PROGRESS_S seconds (15). What the compilers say is in FOLDER/build.log, and is shown on failure.
kiln_build() {
  local folder=$1 status=0
  shift
  NINJA_STATUS='@%f/%t ' cmake --build "$folder" --parallel "$(kiln_jobs)" "$@" 2>&1 </dev/null |
    kiln_show_progress "$folder/build.log" || status=$?
  if [[ $status -eq 0 ]]; then return; fi
  grep -v '^@[0-9]*/[0-9]* ' "$folder/build.log" | tail -n 80 >&2 || true
  if grep -q -E 'Killed|virtual memory exhausted|cannot allocate memory' "$folder/build.log"; then
    echo "The compiler was stopped, most likely because memory ran out; try CMAKE_BUILD_PARALLEL_LEVEL=1 cmake --build $folder" >&2
  fi
  echo "The build failed; everything that was said is in $folder/build.log. Run this again after the mend: what is built is kept." >&2
  return 1
}

# kiln_show_progress LOG: reads ninja's output with NINJA_STATUS='@%f/%t ', copies it to LOG.
kiln_show_progress() {
  local log=$1 part line='' read_status begin=$SECONDS shown=-100 done_=0 of=0 newest=0 width=0 text
  local every=${KILN_PROGRESS_S:-15} live=0
  if [[ -t 1 ]]; then live=1 every=1; fi
  : >"$log"
  while true; do
    read_status=0
    IFS= read -r -t 1 part || read_status=$?
    line+=$part
    if [[ $read_status -eq 0 ]]; then
      printf '%s\n' "$line" >>"$log"
      if [[ $line =~ ^@([0-9]+)/([0-9]+)\  ]]; then
        if [[ $done_ -ne ${BASH_REMATCH[1]} ]]; then newest=$SECONDS; fi
        done_=${BASH_REMATCH[1]} of=${BASH_REMATCH[2]}
      fi
      line=''
    elif [[ $read_status -le 128 ]]; then
      break # the end of the output
    fi
    if [[ $of -gt 0 && $((SECONDS - shown)) -ge $every ]]; then
      shown=$SECONDS
      text="  built $done_ of $of$(kiln_time_left "$done_" "$of" $((SECONDS - begin)) $((SECONDS - newest)))"
      if [[ $live -eq 1 ]]; then
        printf '\r%-*s' "$width" "$text"
        width=${#text}
      else
        printf '%s\n' "$text"
      fi
    fi
  done
  if [[ $live -eq 1 && $width -gt 0 ]]; then printf '\r%-*s\r' "$width" ''; fi
  if [[ -n $line ]]; then printf '%s\n' "$line" >>"$log"; fi
  if [[ $of -gt 0 ]]; then echo "  built $done_ of $of in $(kiln_duration $((SECONDS - begin)))"; fi
}

# kiln_time_left DONE OF SECONDS SILENT: ", about 3 min left", or that one file has taken long.
kiln_time_left() {
  if [[ $4 -ge 60 ]]; then
    echo ", the newest $(kiln_duration "$4") ago; the compiler is at work on a long file"
  elif [[ $1 -ge 5 && $3 -ge 5 ]]; then
    echo ", about $(kiln_duration $(($3 * ($2 - $1) / $1))) left"
  fi
}

kiln_duration() { # SECONDS
  if [[ $1 -lt 90 ]]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}
