# A function that calls itself.
f() { f; }; f; echo "not reached"
