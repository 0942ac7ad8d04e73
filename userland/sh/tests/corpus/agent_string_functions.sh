trim() { local s="$1"; s="${s#"${s%%[![:space:]]*}"}"; s="${s%"${s##*[![:space:]]}"}"; printf '%s' "$s"; }; echo "[$(trim '  a b  ')]"
upper() { echo "${1^^}"; }; upper abc; rev_str() { local s=$1 r= i; for ((i=${#s}-1;i>=0;i--)); do r+=${s:i:1}; done; echo $r; }; rev_str hello
contains() { [[ $1 == *"$2"* ]]; }; contains foobar oba && echo yes; contains foobar xyz || echo no; startswith() { [[ $1 == "$2"* ]]; }; startswith foobar foo && echo starts
repeat() { printf "%.0s$1" $(seq 1 $2); echo; }; repeat ab 3; path=/a/b/c.tar.gz; echo "${path##*/} ${path%/*} ${path##*.} ${path%%.*}"; v="a,b,,c"; IFS=, read -ra p <<< "$v"; echo ${#p[@]}
pad() { printf '%0*d\n' "$2" "$1"; }; pad 7 3; is_int() { [[ $1 =~ ^-?[0-9]+$ ]]; }; is_int 42 && echo int; is_int 4x || echo notint; s=hello; echo ${s/l/L} ${s//l/L} ${#s} ${s:1:3}
