HOME=/home/u; echo ~ ~/x "~" '~' \~ a~b; x=~/y; echo $x; PATH_LIKE=~/a:~/b; echo $PATH_LIKE
echo ~+ | sed "s#$PWD#PWD#"; cd /; cd /tmp; echo ~-
y=a:~; echo $y; echo ${nope:-~/z} "${nope:-~/z}"
