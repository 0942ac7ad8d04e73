plain=1; export EXPORTED='two words'; empty=; spaces='  a  b  '
----
echo "$plain|$EXPORTED|$empty|${empty+set}|$spaces|"
env | grep ^EXPORTED
plain+=2; unset empty
----
echo "$plain|${empty-gone}"
declare -i number=3+4; declare -l lower=ABC; declare -u upper=abc; readonly fixed=once
list=(a 'b c' [5]=five); declare -A map=([k]=v ['a b']='c d' [x]='$y'); declare -n ref=plain
----
number+=1; lower+=DEF; upper=def; echo $number $lower $upper
declare -p number lower upper fixed list map ref
ref=through; echo $plain ${!ref}
list+=(six); map[new]=1
----
declare -p list map plain
echo ${list[@]} ${#map[@]} "${!list[@]}"
unset 'list[1]' 'map[k]'
declare -p list map
declare -a later=(); declare -x onlymarked
----
declare -p later onlymarked
later=(1); onlymarked=now
----
env | grep onlymarked; declare -p later
bytes=$'\xff\xfe\x01\n\t\\ \' "'; printf %s "$bytes" | od -An -tx1
----
printf %s "$bytes" | od -An -tx1
declare -p bytes
f() { local plain=local; inner=global; }
f
----
echo $plain $inner
IFS=:; set -- a:b
----
x=1:2; echo $x; IFS=$' \t\n'
export -n EXPORTED
----
env | grep -c ^EXPORTED; echo $EXPORTED
declare +i number; number=1+1; echo $number
----
number=2+2; echo $number
(number=sub; cd /); echo $number
echo piped | read number; echo $number
bash -c 'number=child; echo ${number}'; echo $number
----
echo $number
PATH=$PATH:/extra; HOME=/somewhere
----
echo ${PATH##*:} $HOME ~
unset HOME
----
echo "${HOME-unset}"
REPLY=kept; OPTIND=1; getopts ab: opt -a; echo $opt
[[ foobar =~ (o+)(b) ]]
----
echo $REPLY $opt ${BASH_REMATCH[@]}
