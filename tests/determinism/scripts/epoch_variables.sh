echo ${EPOCHSECONDS:-none} ${EPOCHREALTIME:-none}; sleep 0.25; echo ${EPOCHREALTIME:-none}
