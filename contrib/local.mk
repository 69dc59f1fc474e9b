dist_bashcompletion_DATA = %D%/bash-completion/memstate
dist_zshcompletion_DATA = %D%/zsh/_memstate
dist_fishcompletion_DATA = %D%/fish/memstate.fish
