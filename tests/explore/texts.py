"""Has texts of files that leave choices open."""

SPACE = """\
Func softmax, total;
In A;
Var x;
RVar y;
total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
softmax.block(x:{2, 4});
softmax.tensorize(x:0, y:{16, 32, 64});
total.fuse_at(softmax, x);
softmax.compile();
"""
