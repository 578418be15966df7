"""The first lines that a sandboxed program's process runs; never imported by the product.

`sandbox` sends this text to `python -c`, with the limits as one JSON argument and the program on
the standard input. It lowers the limits, gives up root, has the kernel refuse files (Landlock) and
every call that computing and printing don't need (seccomp), and runs the program. What holds is the
kernel's word. The guard over Python comes last and holds nobody: it says in plain words what the
kernel would refuse with a number.
"""

import json
import os
import platform
import struct
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


# --- what the kernel refuses ----------------------------------------------------------------------

SYSCALLS = {
    "x86_64": (0xC000003E, 257, (
        0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 23, 24, 25, 28, 32,
        35, 39, 60, 61, 63, 72, 79, 89, 95, 96, 97, 98, 99, 100, 102, 104, 107, 108, 110, 111, 131,
        137, 138, 186, 201, 202, 204, 217, 228, 229, 230, 231, 262, 267, 269, 270, 271, 273, 292,
        302, 318, 332, 334, 439,
    )),
    "aarch64": (0xC00000B7, 56, (
        23, 24, 25, 29, 43, 44, 48, 57, 61, 62, 63, 64, 65, 66, 67, 72, 73, 78, 79, 80, 93, 94, 96,
        98, 99, 101, 113, 114, 115, 123, 124, 132, 134, 135, 139, 153, 160, 165, 172, 173, 174, 175,
        176, 177, 178, 179, 214, 215, 216, 222, 226, 233, 261, 278, 291, 293, 17, 439,
    )),
}  # fmt: skip
"""Calls that are allowed, by processor: the audit number, `openat`, the rest. All others fail.

Memory, clocks, waiting, reading and looking; no socket, process, signal to others, mount, key,
tracing, or change of rights. `prlimit64` (302, 261) reads this process's limits only.
"""
LIMIT_CALLS = {"x86_64": 302, "aarch64": 261}
LIBRARY_FLAGS = (1 << 0) | (1 << 2) | (1 << 3)
"""Landlock: execute, read files, list folders."""


def forbid_files(folders: Sequence[str]) -> None:
    """Have the kernel refuse every file but those beneath some folders, and these only for reading.

    Raises:
        OSError: this kernel has no Landlock.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        raise OSError("no Landlock")
    handled = (1 << (13 + min(version - 1, 2))) - 1
    rules = struct.pack("<Q", handled)
    ruleset = libc.syscall(444, rules, ctypes.c_size_t(len(rules)), ctypes.c_uint32(0))
    if ruleset < 0:
        raise OSError("no Landlock ruleset")
    for folder in folders:
        try:
            handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        is_folder = os.path.isdir(folder)  # noqa: PTH112 - it imports little
        flags = LIBRARY_FLAGS if is_folder else LIBRARY_FLAGS & ~(1 << 3)
        rule = struct.pack("<Qi", flags, handle)
        if libc.syscall(445, ruleset, 1, rule, ctypes.c_uint32(0)) != 0:
            raise OSError("no Landlock rule")
        os.close(handle)
    forbid_new_rights(libc)
    if libc.syscall(446, ruleset, ctypes.c_uint32(0)) != 0:
        raise OSError("Landlock doesn't take the rules")
    os.close(ruleset)


def forbid_new_rights(libc: object) -> None:
    """Have no program that is started gain rights: a filter needs that."""
    if libc.prctl(38, 1, 0, 0, 0) != 0:  # type: ignore[attr-defined]
        raise OSError("no_new_privs isn't taken")


def forbid_calls() -> None:
    """Have the kernel refuse every call that isn't on the list, and opening a file to write.

    Raises:
        OSError: this kernel or processor has no filter that is known here.
    """
    import ctypes

    machine = platform.machine()
    if machine not in SYSCALLS or sys.byteorder != "little":
        raise OSError("no filter for this processor")
    audit, openat, allowed = SYSCALLS[machine]
    limits = LIMIT_CALLS[machine]
    plain = [number for number in allowed if number != limits]
    load, equal, any_bit, at_least, give = 0x20, 0x15, 0x45, 0x35, 0x06
    refuse = (give, 0, 0, 0x00050000 | 1)  # EPERM
    allow = (give, 0, 0, 0x7FFF0000)
    kill = (give, 0, 0, 0x80000000)
    writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    steps = [
        (load, 0, 0, 4), (equal, 1, 0, audit), kill,
        (load, 0, 0, 0), (at_least, 0, 1, 0x40000000), refuse,
        (equal, 0, 4, openat), (load, 0, 0, 32), (any_bit, 0, 1, writes), refuse, allow,
        # The limits may be read: no new ones are handed over where the third argument is 0.
        (equal, 0, 6, limits), (load, 0, 0, 32), (equal, 0, 3, 0), (load, 0, 0, 36),
        (equal, 0, 1, 0), allow, refuse,
    ]  # fmt: skip
    steps += [(equal, len(plain) - at, 0, number) for at, number in enumerate(plain)]
    steps += [refuse, allow]
    code = b"".join(struct.pack("<HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("<H6xQ", len(steps), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    forbid_new_rights(libc)
    if libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError("no seccomp filter")


# --- words for what is refused --------------------------------------------------------------------


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
    if limits["library"]:
        forbid_files(limits["library"])
    forbid_calls()
    for name in FORBIDDEN_MODULES:
        sys.modules.pop(name, None)
    program = compile(source, "program.py", "exec", dont_inherit=True)
    sys.addaudithook(make_guard(folders))
    exec(program, {"__name__": "__main__", "__builtins__": __builtins__})


if __name__ == "__main__":
    main()
