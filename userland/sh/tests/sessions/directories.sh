mkdir -p a/b 'with space' && ln -s a link
cd a/b
----
echo "${PWD##*/} ${OLDPWD##*/}"; touch here
cd ..
----
ls; cd - >/dev/null; echo "${PWD##*/}"
----
echo "${PWD##*/}"; cd ../../link
----
pwd | sed 's,.*/,,'; pwd -P | sed 's,.*/,,'; cd ..; ls
----
cd 'with space'; echo "${PWD##*/}"
----
echo "${PWD##*/}"; cd nowhere 2>/dev/null || echo stays
----
echo "${PWD##*/}"
(cd /; pwd); echo "${PWD##*/}"
pushd ../a >/dev/null; pushd b >/dev/null; echo ${#DIRSTACK[@]}
----
echo ${#DIRSTACK[@]}; popd >/dev/null; echo "${PWD##*/}"
----
popd >/dev/null; echo "${PWD##*/}"
popd 2>/dev/null || echo empty
CDPATH=..
----
cd a >/dev/null; echo "${PWD##*/}"
