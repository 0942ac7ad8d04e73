e=; printf '[%s]' a $e b "$e" ''; echo
set -- ; printf '[%s]' "$@"; echo; printf '[%s]' x"$@"y; echo
set -- '' a ''; printf '[%s]' "$@"; echo; printf '[%s]' $@; echo; printf '[%s]' "$*"; echo
printf '<%s>' "${e:-}" ${e:-} "${e:-x y}" ${e:-x y}; echo
