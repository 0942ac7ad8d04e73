usage() { echo "usage: $0 [-v] [-o FILE] args"; exit 2; }
parse() {
  verbose=0 output= args=()
  while (($#)); do
    case "$1" in
      -v|--verbose) verbose=1 ;;
      -o|--output) output="$2"; shift ;;
      --output=*) output="${1#*=}" ;;
      --) shift; args+=("$@"); break ;;
      -*) echo "unknown option: $1" >&2; return 2 ;;
      *) args+=("$1") ;;
    esac
    shift
  done
  echo "v=$verbose o=$output n=${#args[@]} a=${args[*]}"
}
parse -v -o out.txt a b; parse --output=x y; parse -- -z; parse --bogus 2>&1; echo $?; parse; (usage); echo $?
