#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs a panel of instances and seeds with `kiln solve`, each until the best known value or a time
# limit, and says how good the answers are. One JSON object per run is appended to a file; runs that
# are in it already are skipped, so that a panel can be interrupted and gone on with. Needs bash and
# python3. The environment is passed on: LD_LIBRARY_PATH and KILN_CUDA_MODULE work as for kiln.
set -euo pipefail

usage="usage: apps/bench/gset.sh [options] [-p NAME=VALUE ...]
  --kiln PATH        default build/release/bin/kiln, else build/ci/bin/kiln, else kiln on the PATH
  --schedule NAME    default simulated-annealing
  --device NAME      auto, cpu, cuda or cuda:N (default auto)
  --time-limit TIME  of each run (default 20s)
  --seeds \"1 2 3\"    default \"1 2 3\"
  --instances LIST   \"G1 G11 torus:50x40,1\" (default: twelve of the G-set)
  --output FILE      default gset.ndjson
  -p NAME=VALUE      a parameter of the schedule; may be repeated. A file should hold runs with the
                     same parameters only: they are not looked at when runs are skipped"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kiln=
schedule=simulated-annealing
device=auto
limit=20s
seeds="1 2 3"
instances="G1 G11 G14 G22 G32 G35 G43 G51 G55 G63 G70 G81"
output=gset.ndjson
parameters=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) echo "$usage"; exit 0 ;;
    --kiln | --schedule | --device | --time-limit | --seeds | --instances | --output | -p)
      if [[ $# -lt 2 ]]; then echo "$1 needs a value" >&2; exit 2; fi
      case $1 in
        --kiln) kiln=$2 ;;
        --schedule) schedule=$2 ;;
        --device) device=$2 ;;
        --time-limit) limit=$2 ;;
        --seeds) seeds=$2 ;;
        --instances) instances=$2 ;;
        --output) output=$2 ;;
        -p) parameters+=(-p "$2") ;;
      esac
      shift 2 ;;
    *) echo "unknown option $1" >&2; echo "$usage" >&2; exit 2 ;;
  esac
done

for candidate in "$root"/build/{release,ci}/bin/kiln "$(command -v kiln || true)"; do
  if [[ -z $kiln && -n $candidate && -x $candidate ]]; then kiln=$candidate; fi
done
if [[ -z $kiln ]]; then
  echo "no program: build the target kiln_runtime, or give --kiln PATH" >&2
  exit 1
fi
version=$("$kiln" --version)
echo "$version: $schedule, $limit each, on $device; results in $output" >&2
: >>"$output"

# is_done INSTANCE SEED: whether the file has that run with this schedule.
is_done() {
  python3 -c '
import json, sys
path, instance, seed, schedule = sys.argv[1:]
with open(path) as lines:
    runs = [json.loads(line) for line in lines if line.strip()]
found = any((r["instance"], str(r["seed"]), r["schedule"]) == (instance, seed, schedule)
            for r in runs)
sys.exit(0 if found else 10)' "$output" "$1" "$2" "$schedule"
}

# best_known_of INSTANCE: prints it, or nothing.
best_known_of() {
  "$kiln" generate "$1" | "$kiln" check - --json | python3 -c '
import json, sys
value = json.load(sys.stdin).get("best_known")
print("" if value is None else f"{value:.12g}")'
}

# record INSTANCE SEED: reads a kiln.result/2 and prints a line for the file.
record() {
  python3 -c '
import json, sys
instance, seed, limit, version = sys.argv[1:5]
result = json.load(sys.stdin)
objective, work, time = result["objective"], result["work"], result["time"]
print(json.dumps({
    "instance": instance, "seed": int(seed), "schedule": result["schedule"]["name"],
    "parameters": sys.argv[6::2], "device": result["device"]["name"],
    "device_description": result["device"]["description"], "kiln": version, "time_limit": limit,
    "sense": objective["sense"], "best": objective["best"], "best_known": objective["best_known"],
    "gap": objective["gap"], "stop": result["stop"], "to_best_s": time["to_best_s"],
    "run_s": time["run_s"], "sweeps": work["sweeps"], "replicas": work["replicas"]}))' \
    "$1" "$2" "$limit" "${version#kiln }" ${parameters[@]+"${parameters[@]}"}
}

for short in $instances; do
  instance=$short
  if [[ $short =~ ^G[0-9]+$ ]]; then instance=gset:$short; fi
  target=()
  asked=0
  for seed in $seeds; do
    status=0
    is_done "$instance" "$seed" || status=$?
    if [[ $status -eq 0 ]]; then continue; fi
    if [[ $status -ne 10 ]]; then echo "$output is no file of this program" >&2; exit 1; fi
    if [[ $asked -eq 0 ]]; then
      asked=1
      best_known=$(best_known_of "$instance")
      if [[ -n $best_known ]]; then target=(--target "$best_known"); fi
    fi
    # Two steps, so that only whole runs come into the file.
    result=$("$kiln" solve "$instance" --schedule "$schedule" --device "$device" --seed "$seed" \
      --time-limit "$limit" ${target[@]+"${target[@]}"} ${parameters[@]+"${parameters[@]}"} \
      --json --quiet)
    line=$(record "$instance" "$seed" <<<"$result")
    printf '%s\n' "$line" >>"$output"
    echo "$instance seed $seed done" >&2
  done
done

python3 -c '
import json, statistics, sys
runs = {}
for line in open(sys.argv[1]):
    if line.strip():
        run = json.loads(line)
        runs.setdefault((run["schedule"], run["instance"]), []).append(run)
rows = [["schedule", "instance", "seeds", "reached", "best", "best known", "gap %", "s to best"]]
for (schedule, instance), group in runs.items():
    values = [run["best"] for run in group]
    best = max(values) if group[0]["sense"] == "maximize" else min(values)
    known = group[0]["best_known"]
    gap = next(run["gap"] for run in group if run["best"] == best)
    reached = sum(run["stop"] == "target_reached" for run in group)
    rows.append([schedule, instance, str(len(group)), "-" if known is None else str(reached),
                 f"{best:.12g}", "-" if known is None else f"{known:.12g}",
                 "-" if gap is None else f"{100 * gap:.3f}",
                 "%.2f" % statistics.median(run["to_best_s"] for run in group)])
widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
for row in rows:
    cells = [cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
    print("   ".join(cells))
print("best and gap are those of the best seed, s to best is the median over the seeds")' "$output"
