import sys
from tests.framed_kernels import *
for one in public_kernels():
    if sys.argv[1] in one.kernel:
        path = Path("/tmp/pubA") / one.project.replace("/", "+") / one.kernel.partition("::")[0]
        ls=list(launches_of(one,path))
        (g,*_)=groups_of(ls, read_module(read_file(str(path))))
        print(g.numbers, g.grid, [ (t.name,t.sizes,t.use) for t in g.tensors])
        for c in axes_choices(g)[:4]: print(c.cost, [(t.tensor.name,t.words) for t in c.tensors], c.labels)
