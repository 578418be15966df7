"""Before anything leaves this computer: which pictures and texts go to which host."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from atom.engine.members import Members
from atom.errors import UsageError
from atom.records import BenchSet, Endpoint, PictureSlot, Sample
from atom.store import Store, change_consent, find_study


@dataclass(frozen=True, kw_only=True)
class ConsentQuestion:
    """What would be sent to one host.

    Args:
        host: where it goes.
        endpoints: names of the endpoints there.
        pictures: how many pictures.
        texts: how many questions, with their choices, references and answers.
    """

    host: str
    endpoints: tuple[str, ...]
    pictures: int
    texts: int

    @property
    def sentence(self) -> str:
        """The question in words."""
        return (
            f"{self.pictures:,} pictures and {self.texts:,} questions with their answers "
            f"would be sent to {self.host} ({', '.join(self.endpoints)})"
        )


class ConsentNeeded(UsageError):
    """A run would send data to a host that nobody has agreed to.

    Args:
        questions: what would go where.
    """

    def __init__(self, questions: Sequence[ConsentQuestion]) -> None:
        self.questions = tuple(questions)
        lines = "; ".join(question.sentence for question in self.questions)
        super().__init__(f"{lines}: agree first (--yes on the command line, or on the Runs page)")

    def __reduce__(self) -> tuple[type[ConsentNeeded], tuple[tuple[ConsentQuestion, ...]]]:
        return (ConsentNeeded, (self.questions,))


def is_remote(endpoint: Endpoint) -> bool:
    """Whether asking this endpoint sends anything off this computer."""
    name = urlsplit(endpoint.url).hostname or ""
    if not endpoint.url or name == "localhost" or name.endswith(".localhost"):
        return False
    try:
        return not ipaddress.ip_address(name).is_loopback
    except ValueError:
        return True


def needs_consent(endpoint: Endpoint, agreed: Collection[str]) -> bool:
    """Whether asking this endpoint sends something to a host that nobody has agreed to.

    Args:
        agreed: hosts that somebody has agreed to.
    """
    return is_remote(endpoint) and endpoint.host not in agreed


def consent_questions(store: Store, members: Members) -> tuple[ConsentQuestion, ...]:
    """Say what a run would send to hosts that the study's owner hasn't agreed to yet."""
    sample_ids = [place.sample_id for place in members.places]
    return questions_of(
        members.endpoints,
        members.study.consent,
        lambda: [sample.pictures for sample in store.get_many(Sample, sample_ids)],
    )


def questions_of(
    endpoints: Iterable[Endpoint],
    agreed: Collection[str],
    sent: Callable[[], Sequence[Sequence[PictureSlot]]],
) -> tuple[ConsentQuestion, ...]:
    """Say what would be sent to hosts that nobody has agreed to yet, a question a host.

    Args:
        endpoints: who is asked.
        agreed: hosts that somebody has agreed to.
        sent: gives the pictures of each text that is sent; called when there is a question.
    """
    hosts: dict[str, list[str]] = {}
    for endpoint in endpoints:
        if needs_consent(endpoint, agreed):
            hosts.setdefault(endpoint.host, []).append(endpoint.name)
    if not hosts:
        return ()
    texts = sent()
    pictures = {slot.picture_id for slots in texts for slot in slots if slot.picture_id}
    return tuple(
        ConsentQuestion(
            host=host,
            endpoints=tuple(dict.fromkeys(names)),
            pictures=len(pictures),
            texts=len(texts),
        )
        for host, names in hosts.items()
    )


def refuse_unless_agreed(questions: Sequence[ConsentQuestion]) -> None:
    """Stop before anything is sent where a question is open.

    Raises:
        ConsentNeeded: so it is.
    """
    if questions:
        raise ConsentNeeded(questions)


def give_consent(store: Store, owner_id: str, hosts: Sequence[str]) -> None:
    """Note that the pictures and texts of a study or a benchmark's set may go to these hosts."""
    if store.get(BenchSet, owner_id) is not None:
        change_consent(store, owner_id, BenchSet, add=hosts)
    else:
        change_consent(store, find_study(store, owner_id).id, add=hosts)
