{ time true; } 2>&1 | grep -c real; { time -p true; } 2>&1 | grep -c '^real'; time true 2>/dev/null; { time { false; }; } 2>/dev/null; echo $?
