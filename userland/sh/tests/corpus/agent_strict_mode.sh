set -euo pipefail
IFS=$'\n\t'
cleanup() { echo "cleanup $?"; }
trap cleanup EXIT
log() { printf '[%s] %s\n' "$1" "${*:2}" >&2; }
main() {
  local -r input="${1:-default}"
  local out
  out=$(printf '%s' "$input" | tr a-z A-Z)
  log INFO "processing $input" 2>&1
  echo "$out"
  [[ -n "$out" ]] || return 1
  grep -q zzz <<< "$out" || echo "not found"
  false
  echo unreachable
}
main "$@"
