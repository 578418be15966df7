"""The first lines that a sandboxed program's process runs; never imported by the product.

`sandbox` sends this text to `python -c`, with the limits as one JSON argument and the program on
the standard input. It lowers the limits, gives up root, puts a guard over what Python may do, and
runs the program. The guard is the second fence: it is Python guarding Python.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence

FORBIDDEN_EVENTS = (
    "socket.", "ctypes.", "subprocess.", "os.fork", "os.exec", "os.posix_spawn", "os.spawn",
    "os.system", "os.startfile", "os.kill", "os.remove", "os.rename", "os.rmdir", "os.mkdir",
    "os.link", "os.symlink", "os.chmod", "os.chown", "os.chflags", "os.truncate", "os.utime",
    "os.chdir", "os.fchdir", "os.setxattr", "pty.", "resource.", "syslog.", "sys.addaudithook",
    "gc.", "code.__new__", "mmap.", "signal.pthread_kill", "sys.remote_exec",
)  # fmt: skip
FORBIDDEN_MODULES = frozenset(
    ("_ctypes", "_posixsubprocess", "_socket", "_ssl", "_multiprocessing", "_testcapi",
     "_testinternalcapi", "_xxsubinterpreters", "_interpreters", "ctypes", "fcntl", "mmap",
     "multiprocessing", "pty", "resource", "socket", "ssl", "subprocess")
)  # fmt: skip
LISTING = ("os.listdir", "os.scandir")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def lower_limits(rlimits: Mapping[str, int]) -> None:
    """Set the kernel's limits; a process that isn't root can't raise them again."""
    import resource

    for name, most in rlimits.items():
        resource.setrlimit(getattr(resource, name), (most, most))


def give_up_root(user: int) -> None:
    """Become nobody, where this is root: root's processes aren't limited."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def make_guard(  # noqa: C901 - one closure, so that nothing of it can be replaced
    folders: Sequence[str],
) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook that lets a program compute, print and import, and little else.

    It holds on to all that it uses: a program can put other things in the place of built-in names
    and of this text's own.
    """
    homes = tuple(folder + "/" for folder in folders)
    kind, text, number, listing, refused = type, str, int, LISTING, PermissionError
    forbidden, modules, writing = FORBIDDEN_EVENTS, FORBIDDEN_MODULES, WRITING

    def refuse(what: str) -> None:
        raise refused("the sandbox forbids " + what)

    def inside(path: object) -> bool:
        if kind(path) is not text:
            return False
        whole = text(path) + "/"
        return whole.startswith(homes) and "/../" not in whole

    def check_open(path: object, flags: object) -> None:
        if kind(path) is number:
            return
        writes = number(flags) & writing if kind(flags) is number else 1  # type: ignore[call-overload]
        if writes or not inside(path):
            refuse("opening files")

    def check_import(name: object, file: object) -> None:
        plain, last = text(name), text(name).rpartition(".")[2]
        stem = text(file).rpartition("/")[2].partition(".")[0]
        if plain in modules or last in modules or stem in modules:
            refuse("the module " + plain)

    def guard(event: str, args: tuple[object, ...]) -> None:
        if event == "open":
            check_open(args[0], args[2])
        elif event == "import":
            check_import(args[0], args[1])
        elif event in listing:
            if not inside(args[0]):
                refuse("listing folders")
        elif event == "object.__setattr__":
            if args[1] == "__code__":
                refuse("changing functions")
        elif event.startswith(forbidden):
            refuse(event)

    return guard


def main() -> None:
    """Run the program on the standard input behind the fences."""
    limits = json.loads(sys.argv[1])
    source = sys.stdin.buffer.read()
    sys.argv[:] = ["program.py"]
    folders = [path for path in sys.path if path]
    sys.path[:] = folders
    if limits["nobody"]:
        give_up_root(limits["nobody"])
    lower_limits(limits["rlimits"])
    for name in FORBIDDEN_MODULES:
        sys.modules.pop(name, None)
    program = compile(source, "program.py", "exec", dont_inherit=True)
    sys.addaudithook(make_guard(folders))
    exec(program, {"__name__": "__main__", "__builtins__": __builtins__})


if __name__ == "__main__":
    main()
