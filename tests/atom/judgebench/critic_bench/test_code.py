import pytest

from atom.judgebench.critic_bench.code import (
    FENCE,
    ProgramResult,
    code_of,
    no_program,
    programs,
    same_value,
    value_code,
)
from atom.records import BenchItem, Sampling, Verdict
from atom.stages.verdicts import blank


def correction(text, final="", item="i"):
    empty = blank("set", item, "correction", "judge", "p/1", Sampling())
    return empty.model_copy(
        update={"state": "scored", "text": text, "data": {"final_answer": final}}
    )


def item(domain="code_exec", **data):
    base = {"kind": "answer", "domain": domain, "tests": "assert f(2) == 4", "truth": "",
            "source": "mbpp", "corrected": True}  # fmt: skip
    return BenchItem(set_id="set", id="i", position=0, data={**base, **data})


@pytest.mark.parametrize(
    ("truth", "answer", "same"),
    [
        ("42", "42", True),
        ("42", "41", False),
        ("Long way.\n\n#### RESULT: 65.03%", "So it is 65.03 %.", True),
        ("#### RESULT: 65.03%", "#### RESULT: 19.1%", False),
        ("1200", "The answer is $1,200.", True),
        ("0.5", "1/2", True),
        ("x = 3", "x = 3", True),
        ("2 km", "2000 m", True),
        ("yes", "Answer: yes", True),
        ("yes", "Answer: no", False),
        ("7", "I can't tell", None),
    ],
)
def test_values(truth, answer, same):
    assert same_value(truth, answer) is same


def test_the_short_answer_counts_before_the_text():
    assert value_code("42", correction("so it is 41", "42")) == 1
    assert value_code("42", correction("so it is 42", "no idea")) == 1
    assert value_code("42", correction("so it is 41")) == 0
    assert value_code("42", correction("who knows")) == -1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Here:\n```python\nx = 1\n```\nDone.", "x = 1\n"),
        ("```\nx = 1\n```", "x = 1\n"),
        ("```js\nlet x\n```\n```py\ny = 2\n```", "y = 2\n"),
        ("def f():\n    return 1\n", "def f():\n    return 1\n"),
        ("```java\nint x;\n```", None),
        ("The code is right as it is.", None),
        ("", None),
    ],
)
def test_the_program_in_a_correction(text, code):
    assert code_of(text) == code


def run(program, ended="ended", output=f"{FENCE}\n", reason=""):
    return program.read(ProgramResult(ended=ended, output=output, reason=reason))


def test_a_program_passes_when_it_comes_to_its_end():
    (program,) = programs([item()], [correction("```python\ndef f(x): return x * x\n```")])
    assert program.source.index("return x * x") < program.source.index("assert f(2) == 4")
    assert program.source.rstrip().endswith(f"print({FENCE!r})")
    assert (run(program).value, run(program).part) == (1.0, "code_run")
    assert run(program, output="").value == 0.0  # it left before its tests
    assert run(program, "error", "", "AssertionError").detail == "AssertionError"
    assert run(program, "timeout", FENCE).value == 0.0
    other = run(program, "no_module", "", "no numpy")
    assert (other.state, other.detail) == ("unscored", "no numpy")
    assert no_program(program).state == "unscored"
    done = [correction("```python\ndef f(x): return x * x\n```"), run(program)]
    assert programs([item()], done) == []


def test_humaneval_tests_are_called_and_values_printed():
    check = "def check(candidate):\n    assert candidate(2) == 4"
    (program,) = programs(
        [item(tests=check, source="humaneval")], [correction("def sq(x): return x * x")]
    )
    assert "\ncheck(sq)\n" in program.source
    text = "```python\nclass Solution:\n    def solution(self): return 42\n```"
    (valued,) = programs([item("math_pot", truth="#### 42", tests="")], [correction(text)])
    assert "print(Solution().solution())" in valued.source
    assert run(valued, output=f"42\n{FENCE}\n").value == 1.0
    assert run(valued, output=f"41\n{FENCE}\n").value == 0.0
    assert run(valued, output=f"{FENCE}\n").value == 0.0
    assert run(valued, output=f"None of it\n{FENCE}\n").state == "unscored"


def test_only_scored_corrections_of_program_domains_are_run():
    unread = correction("x = 1").model_copy(update={"state": "unscored"})
    assert programs([item()], [unread]) == []
    assert programs([item("qa")], [correction("x = 1")]) == []
    assert programs([item()], [correction("x = 1", item="gone")]) == []
    (program,) = programs([item()], [correction("no program here")])
    assert program.source is None
    assert isinstance(program.blank, Verdict)
