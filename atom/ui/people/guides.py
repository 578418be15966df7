"""What people are asked in each kind of label: words, questions, guides."""

from __future__ import annotations

from collections.abc import Mapping

from atom.records import AnnotationKind

KIND_WORDS: Mapping[AnnotationKind, str] = {
    "score": "scores",
    "ranking": "rankings",
    "accuracy": "is it right",
    "necessity": "is it needed",
    "mapping": "capability",
    "error_type": "kinds of error",
    "report": "reports",
    "preference": "preferences",
    "written": "own criteria",
    "match": "the same criterion",
    "wanted": "would ask",
}


SCORE_WORDS = (
    "wrong, or made up",
    "mostly missing, or silent",
    "right in part",
    "right but for something small",
    "right and whole",
)


THREE_WORDS: Mapping[AnnotationKind, tuple[str, ...]] = {
    "accuracy": ("wrong", "partly right, or unclear", "right"),
    "necessity": ("not needed", "helps", "a right solution must get it right"),
}


PAIR_WORDS = ("the first", "the second", "nobody can tell")


ASKS: Mapping[AnnotationKind, str] = {
    "score": "How well does this answer get this step right?",
    "ranking": "Which answers are better? Press their numbers from best to worst.",
    "accuracy": "Is this criterion right: a clear question, and its truth true?",
    "necessity": "Does a right solution need this step?",
    "mapping": "Does this step need this capability?",
    "error_type": "What did the judge get wrong?",
    "report": "Whose answers is this report about?",
    "preference": "Which answer is better?",
    "written": "What would you check an answer to this by? One criterion a line.",
    "match": "Which of the judge’s criteria asks the same?",
    "wanted": "Would you ask this of an answer?",
}


GUIDES: Mapping[str, tuple[str, ...]] = {
    "scores": (
        "One step at a time: a right ending doesn't mend a wrong step, and a slip before it "
        "doesn't excuse it.",
        "Judge what is written. Length, style and confidence count for nothing, hedges included.",
        "Silence, or \"I can't tell\", is a 2; a 5 where it's true that nobody can tell.",
        "The truth shown is settled. If you think that it's wrong, skip, and say so under "
        "Criteria.",
        "The judge's score, and whose answer it is, are hidden on purpose.",
    ),
    "ranking": (
        "A better answer is right for right reasons; a right ending by wrong steps is worse than "
        "one that is sound.",
        "Answers that you can't tell apart tie. Ties are as good as places.",
        "Names are hidden, and the order is your own.",
    ),
    "criteria": (
        "Right: the question is about one step, and its truth agrees with the picture.",
        "Needed: without this step there is no right solution, whatever the way.",
        "Capability: what this one step takes, not what the whole question takes.",
    ),
    "own": (
        "Write before you see the judge’s criteria: the steps that a right answer must get right, "
        "each a question or a statement of its own.",
        "The same: whoever meets the one meets the other. A part of a criterion, or another step "
        "of it, isn’t the same.",
        "Would you ask it: not whether it is true, but whether an answer should be held to it.",
        "Skip the writing (S) to tick the judge’s criteria only.",
    ),
    "errors": (
        "Look at the picture first, then at what the judge says.",
        "Choose the first thing that went wrong; what follows from it is no second error.",
        "If the judge is right and people aren't, say that it's no error.",
    ),
    "pairs": (
        "Weak judges fail at these pairs. Look at the picture first, then at where the answers "
        "differ: what both say decides nothing.",
        "An answer that is right for right reasons is better; length, tone and layout count for "
        "nothing.",
        "Both right, both wrong, or only differing in style: nobody can tell, and the pair leaves "
        "the set.",
        "What is known of the pair, the judges' votes and the models' names are hidden.",
    ),
    "reports": (
        "Each report was written from one model's scores, without its name.",
        "Match it to the model whose answers show it: all models answered the same questions, "
        "drawn at random, and you see what they wrote beside the known answer, not how they were "
        "scored.",
    ),
    "conflicts": (
        "Two people disagree here. What you say stands for both.",
        "Decide by the picture and the guidelines of that queue, not by halving the difference.",
    ),
}
