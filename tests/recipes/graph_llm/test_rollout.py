from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ras_flow.formats.normalize import normalize_name, normalize_question
from ras_flow.formats.plan import format_plan
from ras_flow.formats.triples import Spo
from ras_flow.training.data.labels import check_labels
from ras_flow.training.data.records import Record, check_record
from recipes.graph_llm.agenda import Agenda
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.noise import Noise
from recipes.graph_llm.pool import Pool
from recipes.graph_llm.rollout import roll_out

Q = "When was the director of Salt Road born?"
DIRECTED: Spo = ("Salt Road", "director", "Aino Laine")
BORN: Spo = ("Aino Laine", "date of birth", "3 May 1921")
CASE = Case(
    source="test",
    id="1",
    question=Q,
    answer="3 May 1921",
    steps=(
        Step(
            ("Who directed Salt Road?", "Salt Road director"),
            (DIRECTED,),
            Page("Salt Road", (DIRECTED, ("Salt Road", "genre", "drama"))),
        ),
        Step(
            ("When was Aino Laine born?", "Aino Laine date of birth"),
            (BORN,),
            Page("Aino Laine", (BORN, ("Aino Laine", "instance of", "human"))),
            needs=(0,),
        ),
    ),
)
POOL = Pool(
    Page(f"Film {n}", ((f"Film {n}", "director", f"Person {n}"), (f"Film {n}", "year", f"19{n}")))
    for n in range(10, 60)
)
PERFECT = Noise(
    found_by_question=1.0,
    found=1.0,
    lucky=0.0,
    dead_end=0.0,
    nothing=0.0,
    missed=0.0,
    respelled=0.0,
)


def noisy(base: Noise = PERFECT, **changes: Any) -> Noise:
    return base.override(changes)


def play(
    case: Case = CASE,
    noise: Noise = PERFECT,
    seed: int = 1,
    number: int = 0,
    pool: Pool = POOL,
    **options: Any,
) -> list[Record]:
    made = roll_out(case, pool, noise, seed=seed, number=number, split="train", **options)
    return [check_record(record, record["id"]) for record in made]


TEXTS = {
    "Salt Road": "Salt Road is a drama. It was made by the director Aino Laine for Salt Road Co.",
    "Aino Laine": "Aino Laine was born on 3 May 1921. She was a human being.",
}
WITH_TEXTS = replace(
    CASE,
    steps=tuple(
        replace(step, page=replace(step.page, text=TEXTS[step.page.title])) for step in CASE.steps
    ),
)


def told(*, noise: Noise = PERFECT, seed: int = 1) -> list[Record]:
    """The same run with passages instead of triples."""
    return play(WITH_TEXTS, noise, seed, as_text=True)


def both(*, noise: Noise = PERFECT, seed: int = 1, most: int = 5) -> list[Record]:
    """The same run with passages beside the triples of answers."""
    return play(WITH_TEXTS, noise, seed, answer_passages=most)


def plans(records: list[Record]) -> list[str]:
    targets = [record["target"] for record in records if record["task"] == "plan"]
    return [format_plan(t["label"], t.get("subquery", "")) for t in targets]


def visible(record: Record) -> set[Spo]:
    return {(t[0], t[1], t[2]) for link in record["chain"] for t in link["triples"]}


def test_a_run_without_failures_is_the_papers() -> None:
    records = play()
    assert plans(records) == [f"[SUBQ] {Q}", "[SUBQ] When was Aino Laine born?", "[SUFFICIENT]"]
    assert [len(record["chain"]) for record in records] == [0, 1, 2, 2]
    last = records[-1]
    assert (last["task"], last["target"]) == ("answer", {"answer": "3 May 1921"})
    assert last["chain"] == records[-2]["chain"]
    assert [link["subquery"] for link in last["chain"]] == [Q, "When was Aino Laine born?"]
    assert DIRECTED in visible(records[1])
    assert BORN not in visible(records[1])
    assert all(len({triple[0] for triple in link["triples"]}) == 5 for link in last["chain"])
    # What a plan looks for is named for measuring.
    assert [record.get("page") for record in records] == [None, "Aino Laine", None, None]


def test_a_search_that_fails_is_asked_in_other_words_then_given_up() -> None:
    lost = noisy(found_by_question=0.0, found=0.0)
    records = play(noise=lost)
    assert plans(records) == [
        f"[SUBQ] {Q}",
        "[SUBQ] Who directed Salt Road?",
        "[SUBQ] Salt Road director",
    ]
    empty = play(noise=noisy(lost, nothing=1.0))
    assert [link["triples"] for link in empty[-1]["chain"]] == [[], []]
    missed = play(noise=noisy(lost, missed=1.0))
    assert ("Salt Road", "genre", "drama") in visible(missed[1])
    assert "[SUFFICIENT]" not in plans(missed)


def test_a_mix_that_gives_up_says_so_after_useful_searches() -> None:
    lost = noisy(found_by_question=0.0, found=0.0)
    asked = [f"[SUBQ] {Q}", "[SUBQ] Who directed Salt Road?"]
    assert plans(play(noise=lost, give_up=1)) == [*asked, "[NOT FOUND]"]
    assert plans(play(noise=lost, give_up=3)) == [
        *asked,
        "[SUBQ] Salt Road director",
        "[NOT FOUND]",
    ]
    agenda = Agenda(CASE, 1)
    agenda.ask("Who directed Salt Road?", 0)
    assert agenda.next([0], [" ".join(DIRECTED)])[0] == {"label": "NOT_FOUND"}
    assert agenda.next([0], [" ".join(BORN)])[0] is None, "the graph holds the answer"
    # Without words for a step nobody knows what a useful search is.
    wordless = replace(CASE, steps=(replace(CASE.steps[0], phrasings=()),))
    assert plans(play(wordless, lost, give_up=1)) == [f"[SUBQ] {Q}"]


def test_facts_that_were_not_extracted_are_not_extracted_later() -> None:
    for seed in range(30):
        records = play(noise=noisy(found_by_question=0.5, found=0.5, missed=1.0), seed=seed)
        for at, record in enumerate(records):
            titles = {subject for subject, _, _ in visible(record)}
            if "Salt Road" in titles and DIRECTED not in visible(record):
                assert all(DIRECTED not in visible(later) for later in records[at:])


def test_questions_come_in_odd_case() -> None:
    film = replace(CASE.steps[0], page=Page("Salt Road (1950 film)", (DIRECTED,)))
    case = replace(CASE, steps=(film, *CASE.steps[1:]))
    records = [play(case, noisy(odd_case=1.0), seed)[0] for seed in range(20)]
    titled = "When was the director of Salt Road (1950 Film) born?"
    assert {record["question"] for record in records} == {Q.lower(), titled}
    assert all(one["target"]["subquery"] == one["question"] for one in records)


def test_made_up_facts_stand_beside_gold_ones_and_in_their_place() -> None:
    facts = [
        (f"Person {n}", predicate, f"{value} {n}")
        for n in range(3)
        for predicate, value in ((BORN[1], "day"), ("place of death", "town"))
    ]
    # Too rarely seen together to be taken for a habit.
    facts += [("Person 1", "spouse", "Person 2"), ("Person 2", "spouse", "Person 1")]
    pool = Pool(POOL.pages, facts)
    certain = noisy(kin=1.0)
    missed = noisy(certain, found=0.0, missed=1.0)
    for noise in (certain, missed):
        records = play(noise=noise, pool=pool)
        told = {triple for triple in visible(records[-1]) if triple[0] == "Aino Laine"}
        deaths = [triple for triple in told if triple[1] == "place of death"]
        assert deaths and all(object.startswith("town ") for _, _, object in deaths)
        assert {predicate for _, predicate, _ in told} <= {
            BORN[1],
            "place of death",
            "instance of",
        }
        assert (BORN in told) == (noise is certain)
        assert ("[SUFFICIENT]" in plans(records)) == (noise is certain)
    assert pool.kin.fact("Salt Road", DIRECTED[1], Random(1)) is None


def test_what_is_nowhere_is_never_sufficient() -> None:
    steps = (CASE.steps[0], replace(CASE.steps[1], missing=True, facts=()))
    noises = [(replace(CASE, steps=steps), PERFECT), (CASE, noisy(dead_end=1.0))]
    for case, noise in noises:
        for seed in range(20):
            records = play(case, noise, seed)
            assert {record["task"] for record in records} == {"plan"}
            assert {record["target"].get("label") for record in records} == {"SUBQ"}


def test_distractors_do_not_tell_the_facts_and_come_from_the_pool() -> None:
    telling = [
        Page("x", (("Aino Laine", "made", "Salt Road"),)),
        Page("y", (("Salt Road", "director", "Somebody Else"),)),
        Page("Salt Road", (("Salt Road", "shot in", "Oulu"),)),
        Page("z", (("a biography", "says that", "Aino Laine was born on May 3 , 1921"),)),
    ]
    pool = Pool([*telling, *POOL.pages])
    for seed in range(30):
        for record in play(noise=noisy(found_by_question=0.0, found=0.0), seed=seed, pool=pool):
            seen = {subject for subject, _, _ in visible(record)}
            assert seen <= {f"Film {n}" for n in range(10, 60)}


names = st.sampled_from(["Ash", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gum", "Hazel"])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    chain = draw(st.lists(names, min_size=2, max_size=5, unique=True))
    bridged = draw(st.booleans())
    steps = []
    for at, (subject, object) in enumerate(zip(chain, chain[1:], strict=False)):
        fact = (subject, draw(st.sampled_from(["director", "spouse", "leads to"])), object)
        extra = tuple((subject, "seen by", f"witness {n}") for n in range(draw(st.integers(0, 3))))
        phrasings = tuple(f"{words} {subject} {fact[1]}" for words in ("Who is", "Name"))
        phrasings = phrasings[: draw(st.integers(0, 2))]
        needs = (at - 1,) if bridged and at else ()
        missing = draw(st.integers(0, 9)) == 0
        steps.append(Step(phrasings, (fact,), Page(subject, (fact, *extra)), needs, missing))
    return Case("prop", draw(st.text("abc", min_size=1)), f"{chain[0]}?", chain[-1], tuple(steps))


chances = st.floats(0, 1)
noises = st.builds(
    Noise,
    passages=st.integers(1, 5),
    max_triples=st.integers(1, 6),
    max_hops=st.integers(1, 5),
    found_by_question=chances,
    found=chances,
    lucky=chances,
    dead_end=chances,
    nothing=chances,
    missed=chances,
    related=chances,
    kin=chances,
    respelled=st.just(0.0),
)


@settings(max_examples=150)
@given(cases(), noises, st.integers(0, 50))
def test_every_run_is_sound(case: Case, noise: Noise, seed: int) -> None:
    everything: list[Record] = []
    for number in range(3):
        records = play(case, noise, seed, number)
        assert records == play(case, noise, seed, number)
        everything += records
        for record in records:
            check_run(case, noise, record)
        chains = [record["chain"] for record in records]
        for before, after in zip(chains, chains[1:], strict=False):
            assert [link["subquery"] for link in after][: len(before)] == [
                link["subquery"] for link in before
            ]
    # However the runs went, one input has one label.
    assert check_labels(everything) > 0


def check_run(case: Case, noise: Noise, record: Record) -> None:
    chain, target = record["chain"], record["target"]
    seen = {tuple(map(normalize_name, triple)) for triple in visible(record)}
    facts = {at: tuple(map(normalize_name, step.facts[0])) for at, step in enumerate(case.steps)}
    missing = {at for at, fact in facts.items() if fact not in seen}
    assert len(chain) <= noise.max_hops
    asked = [normalize_question(link["subquery"]) for link in chain]
    assert len(set(asked)) == len(asked)
    if chain:
        assert chain[0]["subquery"] == case.question
    if record["task"] == "answer" or target.get("label") == "SUFFICIENT":
        assert not missing
    elif chain:
        subquery: Any = target["subquery"]
        assert normalize_question(subquery) not in asked
        [step] = [at for at, step in enumerate(case.steps) if subquery in step.phrasings]
        assert step in missing
        assert not missing & set(case.steps[step].needs)
        assert len(chain) < noise.max_hops


@given(st.integers(0, 500), st.floats(0, 1), st.floats(0, 1), st.integers(1, 5))
@settings(max_examples=60)
def test_passages_beside_triples_change_no_plan_and_tell_what_the_answer_needs(
    seed: int, found: float, missed: float, most: int
) -> None:
    noise = noisy(found=found, found_by_question=found, missed=missed)
    alone, records = play(noise=noise, seed=seed), both(noise=noise, seed=seed, most=most)
    assert [one for one in records if one["task"] == "plan"] == [
        one for one in alone if one["task"] == "plan"
    ]
    answers = [record for record in records if record["task"] == "answer"]
    assert len(answers) >= len([record for record in alone if record["task"] == "answer"])
    for answer in answers:
        shown = [passage for link in answer["chain"] for passage in link.get("passages", [])]
        assert all(len(link.get("passages", [])) <= most for link in answer["chain"])
        titles = {title for title, _ in shown}
        assert DIRECTED in visible(answer) or "Salt Road" in titles
        assert BORN in visible(answer) or "Aino Laine" in titles
