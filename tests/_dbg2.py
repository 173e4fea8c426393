import sys
from tests.framed_kernels import *
from dtpoly.cli.init_frame import *
for one in public_kernels():
    if sys.argv[1] in f"{one.project} {one.kernel}":
        path = Path("/tmp/pubA") / one.project.replace("/", "+") / one.kernel.partition("::")[0]
        end,text=framed(one,Path("/tmp/pubA"))
        Path("/tmp/hA/out.dt").write_text(text)
        print(end); print("\n".join(l for l in text.splitlines() if "Guess" not in l and "tell" not in l))
        import subprocess
        r=subprocess.run([sys.executable,"-m","dtpoly","verify","/tmp/hA/out.dt","--kernel",f"{path}::{one.kernel.partition('::')[2]}"],capture_output=True,text=True)
        print("\n".join(l for l in (r.stdout+r.stderr).splitlines() if "assumed" not in l)[:1800])
        break
