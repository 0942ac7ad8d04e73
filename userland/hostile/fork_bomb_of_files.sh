# The same by programs that start themselves.
printf '#!/bin/bash\n./bomb & ./bomb & wait\n' > bomb; chmod +x bomb; ./bomb; echo ended
