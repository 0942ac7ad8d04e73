if
true
then
echo a

fi
while

[ -z "$x" ]

do

x=1

done
for i

in 1 2
do
echo $i
done
case x
in

x)

echo matched

;;

esac
f()

{
echo f
}
f
true &&

echo and
false ||
echo or
echo pipe |

cat
a=(
1

2
)
echo ${a[@]}
{

echo group

}
(

echo sub

)
echo $(

echo subst

)
! false
[[ a == a

&& b == b ]] && echo cond
for ((i=0;
i<2;
i++))
do echo $i; done
