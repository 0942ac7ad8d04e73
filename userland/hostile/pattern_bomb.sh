# Extended patterns with an exponential number of matches.
shopt -s extglob; x=$(printf '%3000s' '' | tr ' ' a); [[ ${x}b == +(+(+(a)))c ]]; echo $?; [[ ${x}b == *a*a*a*a*a*a*a*a*a*c ]]; echo $?
