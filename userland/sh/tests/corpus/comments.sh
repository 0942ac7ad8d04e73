echo a # comment
# whole line
echo b#not # yes
echo 'c # no' "d # no" # e
x=1 # set
echo $x; # trailing
for i in 1 # c
do # c
echo $i # c
done # c
echo \# "#" '#' ; echo a\
#b
