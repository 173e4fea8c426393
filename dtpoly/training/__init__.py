"""Makes operators of torch that train: the gradient of each is an operator of the same kind."""
