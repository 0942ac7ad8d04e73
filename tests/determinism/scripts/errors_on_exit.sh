set -e; trap 'echo line $LINENO status $?' ERR EXIT; (exit 3) || echo caught; false; echo never
