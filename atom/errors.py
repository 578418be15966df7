"""The error tree: subclasses by what the user can do about it.

::

    AtomError
    ├── UsageError          the command or form was filled in wrongly: change the input
    │   └── PlaceError      a file can't be written there: choose another place, or make room
    ├── SettingsError       a setting or an endpoint is missing or wrong: change the configuration
    ├── AccessError         one's role in a deployment doesn't cover it: ask an admin
    ├── DataError           a file or record can't be used: change the data
    │   ├── PictureError    a picture can't be used
    │   ├── FormatError     a file isn't in the form it was said to have
    │   ├── DoubtError      an import asks first: look at what it says, then accept it
    │   └── ConflictError   other contents stand under the same ids: replace them, or go elsewhere
    ├── StoreError          the store refuses: see the message
    │   ├── ReadOnlyError   it can't be written: copy it first, or make it writable
    │   ├── FullError       the disk is full: make room
    │   ├── HeldError       another process holds it: wait, or end that one
    │   ├── AwayError       its server doesn't answer: wait, or start it
    │   ├── FencedError     another process took over what this one did: leave it
    │   └── CorruptError    the store fails its integrity check
    └── JudgeError          a model endpoint didn't answer usably
        ├── TransientError  another try may help (transport, rate, server)
        ├── PermanentError  another try can't help (refused request, missing key, no picture input)
        └── SpendCapReached the run's money limit is used up: raise it and resume

A message says what was given, what is allowed and what to do next. Errors pickle, and never hold
a key.
"""

from __future__ import annotations


class AtomError(Exception):
    """The root of every error that Atomscope raises on purpose.

    Args:
        message: what was given, what is allowed, what to do next; shown to the user as it is.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageError(AtomError):
    """A command or a form was filled in wrongly."""


class PlaceError(UsageError):
    """A file or a folder can't be written where it was to go."""


class SettingsError(AtomError):
    """A setting or an endpoint is missing or wrong."""


class AccessError(AtomError):
    """A person's role in a deployment doesn't cover what they asked for; nothing was changed."""


class DataError(AtomError):
    """A file or record can't be used."""


class PictureError(DataError):
    """A picture can't be used."""


class FormatError(DataError):
    """A file isn't in the form it was said to have."""


class DoubtError(DataError):
    """An import asks first: much would be left out, figures disagree, or columns go unused.

    Args:
        doubts: what it asks about, a line each, with what can be done.
    """

    def __init__(self, doubts: tuple[str, ...]) -> None:
        lines = "".join(f"\n- {line}" for line in doubts)
        super().__init__(
            f"the import stopped before anything came in:{lines}\nTo bring it in as it is, "
            "say --accept (a tick on the Data page)"
        )
        self.doubts = doubts

    def __reduce__(self) -> tuple[type[DoubtError], tuple[tuple[str, ...]]]:
        return type(self), (self.doubts,)


class ConflictError(DataError):
    """The store holds other contents under the same ids."""


class StoreError(AtomError):
    """The store refuses an operation."""


class ReadOnlyError(StoreError):
    """The store is sealed, or lies where nothing can be written; it can be read."""


class FullError(StoreError):
    """The store's disk is full; nothing was changed."""


class HeldError(StoreError):
    """Another process holds the store for longer than was waited; nothing was changed."""


class AwayError(StoreError):
    """The store's server doesn't answer just now."""


class FencedError(StoreError):
    """Another process took over what this one was doing; this one changes nothing more."""


class CorruptError(StoreError):
    """The store fails its integrity check."""


class JudgeError(AtomError):
    """A model endpoint didn't answer usably."""


class TransientError(JudgeError):
    """Another try may help: transport, rate limit or server trouble."""


class PermanentError(JudgeError):
    """Another try can't help: a refused request, a missing key, no picture input."""


class SpendCapReached(JudgeError):
    """The run's money limit is used up; raise it and resume."""
