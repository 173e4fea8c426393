"""What Windows does not have, or has by the name alone: tests take it away, or look for it."""

MODULES = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog", "curses"}
GONE = {
    "os": (
        *("fork", "forkpty", "killpg", "setsid", "geteuid", "getuid", "getegid", "getgid"),
        *("fchown", "fchmod", "chown", "lchown", "mkfifo", "nice", "getpgid", "setpgid"),
        *("sched_getaffinity", "getloadavg", "wait4", "O_NOFOLLOW", "O_NONBLOCK"),
        *("O_CLOEXEC", "O_ASYNC", "O_DIRECTORY", "set_blocking"),
    ),
    "signal": (
        *("SIGKILL", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGPIPE"),
        *("setitimer", "getitimer", "alarm", "ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"),
        *("pthread_sigmask", "pthread_kill", "sigwait", "SIG_BLOCK", "SIG_SETMASK", "siginterrupt"),
    ),
    "select": ("poll", "epoll", "PIPE_BUF", "POLLIN", "POLLOUT"),
}
# These are there on Windows, and do something else, or fail where POSIX does not: a signal ends a
# process whatever it is, an open file cannot be replaced, and links need a right of their own.
OTHERWISE = {
    "os": (
        *("kill", "link", "symlink", "replace", "rename", "waitpid", "WIFSIGNALED", "WTERMSIG"),
        *("WIFEXITED", "WEXITSTATUS", "WNOHANG", "getpgrp", "tcgetpgrp", "uname", "statvfs"),
    ),
    "signal": ("SIGSEGV", "SIGBUS", "SIGQUIT", "SIGCHLD", "SIGSTOP", "SIGCONT"),
}
