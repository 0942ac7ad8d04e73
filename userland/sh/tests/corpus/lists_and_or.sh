true && echo a || echo b; false && echo a || echo b; true || echo no; false || echo yes; false && echo no; echo $?
true && false || true && echo z; { false; true; } && echo g; (false) || echo s; ! false && echo n
false; echo $?; true; echo $?
