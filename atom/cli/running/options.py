"""What is asked of a run of stages: its options, and the run that they describe."""

from __future__ import annotations

import argparse

from atom.cli.parts.options import names_of, settings_of
from atom.cli.parts.sampling import sampling_from, sampling_options
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.study.spec import JUDGE_STAGES, STAGES, RunSpec
from atom.errors import UsageError
from atom.records import Look, StageName, Study
from atom.store import Store, find_study


def what_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say what a run of stages does."""
    parser.add_argument(
        "--judge", metavar="ENDPOINT", help="the judge; the study's own when left out"
    )
    parser.add_argument(
        "--candidates", metavar="A,B", help="endpoints that answer; none: judge only"
    )
    parser.add_argument(
        "--stages", metavar="S,T", help=f"of {','.join(STAGES)}; all that apply when left out"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many samples")
    parser.add_argument(
        "--at-random",
        action="store_true",
        help="draw the samples of --limit at random, the same ones whoever judges",
    )
    parser.add_argument(
        "--repeat", "--repeats", type=int, default=1, metavar="N", help="scorings of each answer"
    )
    parser.add_argument(
        "--answer-repeats", type=int, default=1, metavar="N", help="answers of each candidate"
    )
    parser.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    retry_options(parser)
    parser.add_argument(
        "--show-reference",
        action="store_true",
        help="tell the judge the reference answer when it solves a sample",
    )
    parser.add_argument(
        "--score-without-pictures",
        action="store_true",
        help="let the judge score by the criteria alone, without seeing the pictures",
    )
    parser.add_argument(
        "--settle",
        choices=("leader", "weaknesses", "nodes"),
        help="mark only the answers of the next look at this question (see `run settle`)",
    )
    settle_options(parser)
    sampling_options(parser)


def settle_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say how far looks go."""
    parser.add_argument(
        "--calls", type=int, metavar="N", help="looks: answers that all of them together may mark"
    )
    parser.add_argument(
        "--within", type=float, default=5.0, metavar="POINTS",
        help="looks at nodes: half of the widest interval that is let pass, in points of 0-100",
    )  # fmt: skip


def retry_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say what is asked again."""
    parser.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    parser.add_argument(
        "--retry-unscored",
        action="store_true",
        help="ask again that, and what ended unscored through the server's fault",
    )


def spec_from(args: argparse.Namespace, store: Store) -> RunSpec:
    """Say what those options ask for.

    Raises:
        UsageError: there is no such study, or a name isn't a stage.
    """
    candidates = names_of(args.candidates)
    study = find_study(store, args.study)
    return RunSpec(
        study_id=study.id,
        look=_look_from(args, store, study),
        stages=stages_of(args.stages, with_answers=bool(candidates)),
        judge=args.judge,
        candidates=candidates,
        limit=args.limit,
        at_random=args.at_random,
        repeats=args.repeat,
        answer_repeats=args.answer_repeats,
        budget=args.budget,
        retry_failed=args.retry_failed,
        retry_unscored=args.retry_unscored,
        show_reference=args.show_reference,
        score_pictures=not args.score_without_pictures,
        judge_sampling=sampling_from(args, "judge", study.judge_sampling),
        answer_sampling=sampling_from(args, "answer", study.answer_sampling),
    )


def _look_from(args: argparse.Namespace, store: Store, study: Study) -> Look | None:
    if args.settle is None:
        return None
    from atom.engine.looks.planning import SettleSpec, plan_look

    if args.candidates or args.limit is not None:
        raise UsageError("a look marks answers that are there and draws them itself: leave "
                         "--candidates and --limit")  # fmt: skip
    wanted = SettleSpec(
        study_id=study.id, goal=args.settle, within=args.within, calls=args.calls, judge=args.judge
    )
    found = plan_look(store, wanted, known_endpoints(settings_of(args)))
    if found.spec is None:
        raise UsageError(f"there is no next look: {found.why}")
    return found.spec.look


def stages_of(text: str | None, *, with_answers: bool) -> tuple[StageName, ...]:
    """Read a list of stages; all that apply when it's left out.

    Raises:
        UsageError: a name isn't a stage.
    """
    names = names_of(text)
    wrong = [name for name in names if name not in STAGES]
    if wrong:
        raise UsageError(f"{wrong[0]!r} isn't a stage; stages are {', '.join(STAGES)}")
    if not names:
        return tuple(stage for stage in STAGES if with_answers or stage in JUDGE_STAGES)
    return tuple(stage for stage in STAGES if stage in names)
