import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from atom.records import (
    Checkpoint,
    Criterion,
    Outcome,
    PictureSlot,
    Response,
    Sample,
    Sampling,
    Tag,
    blob_hash,
    content_id,
    unchecked,
)

texts = st.text(max_size=30)


@given(texts, texts)
def test_ids_differ_when_anything_differs(a, b):
    assert (content_id("x", a, "") == content_id("x", b, "")) == (a == b)
    assert content_id("x", a, b) != content_id("y", a, b)
    assert (content_id("x", a + b, "") == content_id("x", a, b)) == (b == "")


parts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@pytest.mark.slow
@given(st.text(max_size=9), st.lists(parts, max_size=5))
def test_an_id_hashes_canonical_json(kind, given_parts):
    text = json.dumps(
        [kind, *given_parts], ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    data = text.encode("utf-8", errors="surrogatepass")
    expected = hashlib.blake2b(data, digest_size=12).hexdigest()
    assert content_id(kind, *given_parts) == expected


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Tag, {"value": "v", "facet": "f", "subject": "sample", "subject_id": "s", "source": "x"}),
        (Outcome, {"response_id": "r", "how": "imported", "value": 0.5}),
        (Response, {"prompt": "imported", "id": "r", "sample_id": "s", "candidate_id": "c"}),
        (
            Sample,
            {
                "id": "s",
                "dataset": "d",
                "question": "q",
                "choices": ("a", "b"),
                "pictures": (PictureSlot(name="p"),),
            },
        ),
    ],
)
def test_an_unchecked_record_is_the_record_that_checks_would_let_through(kind, fields):
    made, checked = unchecked(kind)(**fields), kind(**fields)
    assert made == checked
    assert made.model_dump_json() == checked.model_dump_json()
    assert made.model_dump(exclude_unset=True) == checked.model_dump(exclude_unset=True)
    assert made.model_copy(update={}) == checked
    with pytest.raises(ValidationError):
        made.id = "other"


def test_an_imported_answer_is_named_as_any_other():
    for sample, candidate, repeat in (("a1", "b2", 0), ('s"\u00e4', "c\\", 12)):
        assert Response.imported_id(sample, candidate, repeat) == Response.make_id(
            sample, candidate, "imported", Sampling(), repeat
        )


def test_an_imported_mark_is_named_as_any_other():
    for criterion, judge, repeat in (("a1", "j", 0), ('c"\u00e4', "j\\", 3)):
        assert Checkpoint.imported_key(criterion, "r", judge, repeat) == Checkpoint.make_key(
            criterion, "r", judge, "imported", Sampling(), repeat
        )


def test_ids_are_stable_across_versions():
    assert content_id("sample", "set", "1") == "675c6c6fc43a46800fdf4fce"


def test_an_id_takes_lone_surrogates():
    assert len(content_id("sample", "\ud800")) == 24


def test_a_sample_is_named_by_its_source_id_and_pictures_do_not_change_it():
    assert Sample.make_id("set", "7", "q", (), ()) == Sample.make_id(
        "set", "7", "other", ("a",), ("p",)
    )
    assert Sample.make_id("set", None, "q", (), ("p",)) == Sample.make_id(
        "else", None, "q", (), ("p",)
    )
    assert Sample.make_id("set", None, "q", (), ("p",)) != Sample.make_id(
        "set", None, "q", (), ("r",)
    )


def test_equal_criteria_of_a_sample_are_told_apart_by_their_ordinal():
    assert Criterion.make_id("s", "q", "g", 0) != Criterion.make_id("s", "q", "g", 1)


def test_every_setting_that_changes_a_score_changes_its_key():
    base = ("c", "r", "j", "scoring/1", Sampling(temperature=0.0), 0)
    keys = {Checkpoint.make_key(*base)}
    for place, other in enumerate(("d", "s", "k", "scoring/2", Sampling(temperature=0.1), 1)):
        changed = list(base)
        changed[place] = other
        keys.add(Checkpoint.make_key(*changed))
    assert len(keys) == 7


def test_unknown_fields_are_refused_and_records_do_not_change():
    with pytest.raises(ValidationError):
        Criterion(id="c", sample_id="s", question="q", ground_truth="g", extra=1)
    criterion = Criterion(id="c", sample_id="s", question="q", ground_truth="g")
    with pytest.raises(ValidationError):
        criterion.question = "other"


def test_a_score_is_one_to_five_or_absent():
    with pytest.raises(ValidationError):
        Checkpoint(
            key="k",
            criterion_id="c",
            response_id="r",
            judge_id="j",
            prompt="p",
            state="scored",
            score=6,
        )


def test_a_picture_is_named_by_its_bytes():
    # SHA-256 of the empty string, as published in FIPS 180-4's examples.
    assert blob_hash(b"").startswith("e3b0c44298fc1c14")


def test_a_copy_with_other_values_has_another_key():
    # The key is worked out once and kept: a copy mustn't take it along.
    cold = Sampling(temperature=0.0)
    before = cold.key
    warm = cold.model_copy(update={"temperature": 0.7})
    assert warm.key == Sampling(temperature=0.7).key != before
    assert warm == Sampling(temperature=0.7)
    assert cold.key == before
