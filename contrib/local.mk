dist_bashcompletion_DATA = %D%/bash-completion/memstate
