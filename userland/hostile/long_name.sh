# File names and link targets over the length limit.
n=$(printf "%300s" "" | tr " " a); : > "$n"; echo $?; mkdir "$n"; echo $?; ln -s "$(printf "%5000s" "" | tr " " a)" l; echo $?
