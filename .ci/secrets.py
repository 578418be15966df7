"""Look for keys and passwords in every file that git holds; offline, in a few seconds.

A made-up key of a test says so in itself: it holds one of the words in `MADE_UP`, has few letters,
or the words "made up" stand on its line. Anything else that has the form of a key is a finding,
and the exit status is 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FORMS = {
    "an OpenAI, Anthropic or OpenRouter key": r"\bsk-(?:proj-|ant-|or-v1-)?[A-Za-z0-9_-]{20,}",
    "a Google key": r"\bAIza[0-9A-Za-z_-]{30,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a Slack token": r"\bxox[abprs]-[0-9A-Za-z-]{20,}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+(?P<value>[A-Za-z0-9+/=]{20,})",
    "a signed token": r"\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{15,}",
    "a password in an address": r"\b[a-z][a-z0-9+.-]{2,15}://[^\s/:@'\"{}<>$]{1,60}:[^\s/@'\"{}<>$]{6,60}@",
    "a key that is set": (
        r"(?i)\b[A-Z0-9_]*(?:API_KEY|SECRET|PASSWORD|ACCESS_TOKEN)\s*[=:]\s*['\"]?"
        r"(?P<value>(?=[A-Za-z0-9+/_-]*[0-9])(?=[A-Za-z0-9+/_-]*[a-z])[A-Za-z0-9+/_-]{32,})"
    ),
}  # fmt: skip
MADE_UP = (
    "0123456789", "1234567", "abcdef", "attack", "dummy", "example", "fake", "hush", "hunter",
    "key", "made", "never", "none", "not-", "password", "planted", "probe", "secret", "test",
    "that", "word", "xxxx", "your",
)  # fmt: skip
MOST_BYTES = 5_000_000


def findings(text: str) -> list[tuple[int, str, str]]:
    """Return line, form and beginning of everything that looks like a real key."""
    found = []
    for form, pattern in FORMS.items():
        for match in re.finditer(pattern, text):
            rest = text[match.end() : match.end() + 200].split("\n", 1)[0]
            value = match.groupdict().get("value") or match.group()
            if not is_made_up(value) and "made up" not in rest:
                line = text.count("\n", 0, match.start()) + 1
                found.append((line, form, match.group()[:8]))
    return found


def is_made_up(key: str) -> bool:
    """Whether a key says that it is none, or is drawn with few letters."""
    body = re.sub(r"^(?:sk-|hf_|AIza|AKIA|gh._)", "", key)
    return any(word in body.lower() for word in MADE_UP) or len(set(body)) < 12


def main() -> int:
    """Scan, and name what was found without repeating it."""
    root = Path(__file__).resolve().parent.parent
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, check=True,
    )  # fmt: skip
    bad = 0
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = root / name
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            continue
        data = path.read_bytes()
        if b"\0" in data[:8192]:
            continue
        for line, form, start in findings(data.decode("utf-8", "replace")):
            sys.stdout.write(f"{name}:{line}: {form} ({start}...)\n")
            bad += 1
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
