greet() { echo "hello $1"; }
function loud { greet "$1" | tr a-z A-Z; }
----
greet you; loud you
counter=0
count() { counter=$((counter + 1)); }
----
count; count
----
count; echo $counter
doc() {
  cat <<EOF
name $1
EOF
  cat <<-'RAW'
	$1 stays
	RAW
}
doc2() { cat <<EOF; }
on one line $1
EOF
----
doc x; doc2 y
declare -f doc doc2 greet
----
greet() { echo "again $1"; }
export -f greet
----
greet me
bash -c 'greet child'
declare -F
unset -f loud
----
type -t loud greet
declare -F
recurse() { (( $1 > 0 )) && { echo $1; recurse $(($1 - 1)); }; true; }
----
recurse 3
shopt -s extglob
----
shopt -s extglob
pattern() { case $1 in !(*.txt)) echo other;; *) echo text;; esac; }
----
shopt -s extglob; pattern a.txt; pattern b.md
shadow() { local v=$1; echo "$v ${outer-none}"; }
outer=out
----
shadow in; echo "${v-none}"
where() { echo "$FUNCNAME ${#FUNCNAME[@]}"; }
----
where
cd() { builtin cd "$@" && echo "in ${PWD##*/}"; }
----
cd /tmp; cd /
unset -f cd
----
cd /usr; pwd
