from atom.analysis.reasons.words import less_subject, plain_words, stems, topic


def test_numbers_and_quotes_are_no_words():
    words = plain_words("It says 'a blue cube', not 12.5 °C; it can’t be seen.")
    assert words == ["it", "says", "not", "c", "it", "can't", "be", "seen"]


def test_letters_of_a_script_without_spaces_stand_alone():
    assert plain_words("颜色 wrong") == ["颜", "色", "wrong"]


def test_what_a_reason_is_about_is_left_out_of_all_reasons():
    reasons = [plain_words(one) for one in (
        "the red ball is not mentioned", "the clock is not mentioned", "reads red for blue",
    )]  # fmt: skip
    about = [
        (topic("How many red balls?"), topic("red ball")),
        (topic("What does the clock show?"),),
        (topic("Which colour is the cube?"), topic("It is red.")),
    ]
    # "red" is used twice and is from the subject twice; "blue" is used once and never is; function
    # words stay, whatever they stand in.
    assert less_subject(reasons, about) == [
        "the is not mentioned", "the is not mentioned", "reads for blue",
    ]  # fmt: skip


def test_a_word_that_is_seldom_from_the_subject_stays_everywhere():
    reasons = [["missing"], ["missing"], ["missing"]]
    # One of three uses has it from the subject: less than half.
    about = [(topic("Which part is missing?"),), (topic("x"),), ()]
    assert less_subject(reasons, about) == ["missing", "missing", "missing"]


def test_endings_and_weak_words_go():
    assert stems("the answer omitted a calculation") == "omitt calcul"
    assert stems("omits it") == "omit"
