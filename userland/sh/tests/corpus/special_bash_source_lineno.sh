echo $LINENO
f() {
  echo $LINENO ${FUNCNAME[0]} ${BASH_LINENO[0]}
}
f
echo "$LINENO" \
  "$LINENO"
x=$(echo $LINENO)
echo $x
for i in 1 2
do
  echo $LINENO
done
nosuchcommand_here
echo 'g() { echo in g $LINENO ${BASH_SOURCE[0]}; nosuch2; }' > lib.sh; . ./lib.sh; g
caller; h() { caller; caller 0; }; h
