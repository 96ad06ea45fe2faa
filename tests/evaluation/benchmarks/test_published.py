"""Each benchmark in its published forms: what is asked, what is right, what it rests on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from ras_flow.errors import InputError
from ras_flow.evaluation.benchmarks import load_benchmark
from ras_flow.evaluation.question import Benchmark, Question, Support
from tests.evaluation.benchmarks import rows as r
from tests.training.data import examples as e


def load(folder: Path, name: str, file: str, text: str, split: str | None = None) -> Benchmark:
    path = folder / file
    path.write_text(text, encoding="utf-8")
    return load_benchmark(name, path, split=split)


def only(benchmark: Benchmark) -> Question:
    [question] = benchmark.questions
    return question


def test_triviaqa_as_its_authors_give_it(tmp_path: Path) -> None:
    found = load(tmp_path, "triviaqa", "unfiltered-web-dev.json", json.dumps(r.TRIVIAQA, indent=1))
    question = only(found)
    assert (question.id, question.question) == ("tc_1", "Which river flows through Lindau?")
    assert question.answers == ("River Aach", "Aach")
    # The first five search results that say anything.
    assert [d["text"] for d in question.documents][:2] == ["Lindau lies on the Aach.", "Hit 2"]
    assert len(question.documents) == 5
    assert (found.task, found.retrieval, found.metrics[0]) == ("short_qa", "given_first", "match")


def test_triviaqa_of_self_rag(tmp_path: Path) -> None:
    question = only(load(tmp_path, "triviaqa", "t.jsonl", r.lines(r.SELF_RAG_TRIVIAQA)))
    assert question.answers == ("River Aach", "Aach") and question.id
    assert question.documents[0] == {"title": "Page 0", "text": "Halden has 0 bridges."}
    assert len(question.documents) == 5


def test_popqa_in_both_forms(tmp_path: Path) -> None:
    given = load(tmp_path, "popqa", "popqa_longtail_w_gs.jsonl", r.lines(r.POPQA))
    bare = load(tmp_path, "popqa", "popQA.tsv", r.tsv(r.POPQA_TSV))
    assert (given.retrieval, bare.retrieval) == ("given_first", "corpus")
    for found in (given, bare):
        question = only(found)
        # A list, although the file writes it as a text.
        assert question.answers == ("film director", "director")
        assert (question.id, question.kind) == ("4222362", "occupation")


def test_the_long_tail_of_popqa(tmp_path: Path) -> None:
    known = r.POPQA_TSV | {"id": 2, "s_pop": 100}
    found = load(tmp_path, "popqa_longtail", "popQA.tsv", r.tsv(r.POPQA_TSV, known))
    assert [question.id for question in found.questions] == ["4222362"]


def test_pubhealth_in_both_forms(tmp_path: Path) -> None:
    processed = load(tmp_path, "pubhealth", "health.jsonl", r.lines(r.SELF_RAG_PUBHEALTH))
    assert only(processed).answers == ("false",)
    assert (processed.task, processed.retrieval) == ("fact_check", "corpus")
    labelled = {"claim": "Salt cures colds.", "label": "SUPPORTS"}
    assert only(load(tmp_path, "pubhealth", "l.jsonl", r.lines(labelled))).answers == ("true",)
    cut_short = "8\tMud helps.\n"
    published = load(tmp_path, "pubhealth", "test.tsv", r.tsv(*r.PUBHEALTH_TSV) + cut_short)
    assert [(q.id, q.answers) for q in published.questions] == [
        ("1", ("false",)),
        ("2", ("true",)),
    ]


def test_arc_in_three_forms(tmp_path: Path) -> None:
    for file, row in (("ai2", e.ARC), ("self-rag", r.SELF_RAG_ARC), ("shared", r.SHARED_ARC)):
        found = load(tmp_path, "arc_challenge", f"{file}.jsonl", r.lines(row))
        question = only(found)
        # Numbers become letters, and the options are part of what is asked.
        assert question.answers == ("B", "carbon dioxide")
        assert question.options["A"] == "iron"
        assert question.question.splitlines()[:3] == [
            "What do plants take from the air?",
            "A. iron",
            "B. carbon dioxide",
        ]
        assert (found.task, found.metrics) == ("multiple_choice", ("option_accuracy",))


def test_each_set_of_a_file_with_several_is_a_benchmark(tmp_path: Path) -> None:
    easy, obqa = (r.SHARED_ARC | {"id": set, "set": set} for set in ("arc_easy", "obqa"))
    text = r.lines(r.SHARED_ARC, easy, obqa)
    for name, id in (
        ("arc_challenge", "arc_hard-1"),
        ("arc_easy", "arc_easy"),
        ("openbookqa", "obqa"),
    ):
        assert only(load(tmp_path, name, "mcq.jsonl", text)).id == id


def test_asqa_of_alce(tmp_path: Path) -> None:
    found = load(tmp_path, "asqa", "asqa_eval_gtr_top100.json", json.dumps([r.ASQA]))
    question = only(found)
    assert question.answers == ("1898 and 1974.", "The old one in 1898, the new one in 1974.")
    assert question.answer_sets == (("1898",), ("1974", "in 1974"))
    assert len(question.documents) == 5
    assert (found.task, found.retrieval) == ("ambiguous_qa", "given")
    assert (found.metrics, found.corpus_metrics) == (("rouge_lsum", "str_em"), ("mauve",))


def test_asqa_as_its_authors_give_it(tmp_path: Path) -> None:
    text = json.dumps(r.OWN_ASQA)
    found = load(tmp_path, "asqa", "ASQA.json", text, split="dev")
    assert (only(found).id, found.retrieval) == ("77", "corpus")
    assert only(found).answer_sets == (("1898",), ("1974", "in 1974"))
    assert len(load(tmp_path, "asqa", "ASQA.json", text).questions) == 2


def test_eli5_of_alce(tmp_path: Path) -> None:
    found = load(tmp_path, "eli5", "eli5_eval_bm25_top100.json", json.dumps([r.ELI5]))
    question = only(found)
    assert question.answers == ("Yeast makes gas.",)
    assert question.answer_sets == ()
    assert (found.task, found.retrieval, found.metrics) == ("explain", "given", ("rouge_lsum",))


def test_2wikimultihopqa_in_both_forms(tmp_path: Path) -> None:
    found = load(tmp_path, "2wikimultihopqa", "dev.json", json.dumps([e.WIKI2]))
    question = only(found)
    assert (found.retrieval, found.metrics[0]) == ("corpus", "f1")
    assert (question.id, question.answers, question.kind) == (
        "w1",
        ("3 May 1921",),
        "compositional",
    )
    assert [d["title"] for d in question.documents][:2] == ["Salt Road (film)", "Aino Laine"]
    assert question.support == (
        Support(
            "Salt Road (film)",
            "Salt Road is a 1950 drama film.",
            facts=(("Salt Road", "director", "Aino Laine"),),
        ),
        Support(
            "Aino Laine",
            "Aino Laine (born 3 May 1921) was a Finnish director.",
            facts=(("Aino Laine", "date of birth", "3 May 1921"),),
        ),
    )
    steps = [{"q": question} for question in ("Who a?", "Who b?", "When a?", "When b?")]
    row = e.WIKI2_SHARED | {"decomp": steps}
    shared = only(load(tmp_path, "2wikimultihopqa", "2wiki.jsonl", r.lines(row)))
    assert [part.subquery for part in shared.support] == ["Who a?", "Who b?", "When a?", "When b?"]
    # By their place, though the third triple calls its subject "Laine".
    assert shared.support[2].facts == (("Laine", "date of birth", "3 May 1921"),)


def test_2wikis_own_aliases_are_gold_answers_too(tmp_path: Path) -> None:
    known = {"Q_id": "Q1", "aliases": ["Norge", "Norway"], "demonyms": ["Norwegian"]}
    (tmp_path / "id_aliases.json").write_text(r.lines(known))
    rows = [
        e.WIKI2 | {"_id": id, "answer": "Norway", "answer_id": entity}
        for id, entity in (("a", "Q1"), ("b", "Q2"), ("c", None))
    ]
    found = load(tmp_path, "2wikimultihopqa", "dev.json", json.dumps(rows))
    answers = [question.answers for question in found.questions]
    assert answers == [("Norway", "Norge", "Norwegian"), ("Norway",), ("Norway",)]


def test_2wiki_triples_go_by_name_where_there_are_more_than_titles(tmp_path: Path) -> None:
    row = e.WIKI2 | {
        "evidences": [*e.WIKI2["evidences"], ["Salt Road", "country", "Finland"]],
        "supporting_facts": [*e.WIKI2["supporting_facts"], ["Salt Road (film)", 1]],
    }
    question = only(load(tmp_path, "2wikimultihopqa", "dev.json", json.dumps([row])))
    # Each sentence is support of its own: together they need not stand in a row.
    assert [part.text for part in question.support][:2] == e.WIKI2["context"][0][1]
    assert [len(part.facts) for part in question.support] == [2, 0, 1]


def test_hotpotqa_in_three_forms(tmp_path: Path) -> None:
    found = load(tmp_path, "hotpotqa", "hotpot_dev_distractor_v1.json", json.dumps([e.HOTPOT]))
    question = only(found)
    assert (found.retrieval, found.metrics[0]) == ("corpus", "hotpotqa_f1")
    assert (question.id, question.kind, len(question.documents)) == ("h1", "bridge", 4)
    assert question.documents[0] == {
        "title": "Lindau",
        "text": "Lindau is a town on the River Aach. It has a harbour.",
    }
    assert question.support[0] == Support("Lindau", "Lindau is a town on the River Aach.")
    shared = e.HOTPOT | {
        "docs": [{"title": title, "sents": sents} for title, sents in e.HOTPOT["context"]],
        "support": [["Lindau", 0], ["Lindau", 1], ["Gone", 0]],
    }
    question = only(load(tmp_path, "hotpotqa", "ctx.jsonl", r.lines(shared)))
    assert question.support == (
        Support("Lindau", "Lindau is a town on the River Aach."),
        Support("Lindau", "It has a harbour."),
        Support("Gone"),
    )
    bare = {"idx": 3, "question": "Who?", "answer": "yes", "qtype": "comparison"}
    question = only(load(tmp_path, "hotpotqa", "qa.jsonl", r.lines(bare)))
    assert (question.id, question.support, question.documents) == ("3", (), ())


def test_musique_in_both_forms(tmp_path: Path) -> None:
    row = e.MUSIQUE | {"answer_aliases": ["Moe", ""]}
    unknown = e.MUSIQUE | {"id": "2hop__2", "answerable": False}
    question = only(load(tmp_path, "musique", "dev.jsonl", r.lines(row, unknown)))
    assert (question.answers, question.kind) == (("Ingrid Moe", "Moe"), "2hop")
    assert question.support[1] == Support(
        "Halden Pictures",
        "Halden Pictures was founded by Ingrid Moe in 1931.",
        "who founded Halden Pictures",
    )
    steps = [
        {"q": "Salt Road >> distributed by", "a": "Halden Pictures", "doc_id": "Salt Road_0"},
        {"q": "#1 >> founded by", "a": "Ingrid Moe", "doc_id": "Halden_Pictures_3"},
    ]
    bare = {"id": "m", "question": "Who?", "answer": "Ingrid Moe", "aliases": [], "decomp": steps}
    question = only(load(tmp_path, "musique", "decomp.jsonl", r.lines(bare)))
    assert question.support == (
        Support("Salt Road", subquery="Salt Road >> distributed by"),
        Support("Halden_Pictures", subquery="Halden Pictures >> founded by"),
    )


def test_strategyqa_in_both_forms(tmp_path: Path) -> None:
    found = load(tmp_path, "strategyqa", "train.json", json.dumps([r.STRATEGYQA]))
    question = only(found)
    assert (question.answers, found.metrics) == (("yes",), ("verdict_accuracy",))
    assert found.task == "yes_no"
    facts = [{"title": "", "text": fact} for fact in r.STRATEGYQA["facts"]]
    assert (list(question.documents), list(found.pool)) == (facts, facts)
    # The first annotator's list is short of a step; a step that names a result is no subquery.
    said = tuple(Support("", fact) for fact in r.STRATEGYQA["facts"])
    assert question.support == (
        *said,
        Support("Aino Laine", subquery="When was Aino Laine born?"),
        Support("Jean-Luc", subquery="When was Aino Laine born?"),
        Support("Pier House"),
    )
    row = r.STRATEGYQA | {"answer": False, "evidence_titles": ["Aino Laine", "Pier House"]}
    question = only(load(tmp_path, "strategyqa", "shared.jsonl", r.lines(row)))
    assert question.answers == ("no",)
    assert question.support == (
        *said,
        Support("Aino Laine"),
        Support("Pier House"),
        Support("", subquery="When was Aino Laine born?"),
    )


def test_fever_in_both_forms(tmp_path: Path) -> None:
    found = load(tmp_path, "fever", "shared_task_dev.jsonl", r.lines(r.FEVER, r.FEVER_UNKNOWN))
    question = only(found)
    assert (question.id, question.answers, found.task) == ("75397", ("true",), "fact_check")
    # Of evidence sets, one is enough.
    assert question.support == (Support("Aino Laine"), Support("Salt Road (film)"))
    shared = only(load(tmp_path, "fever", "shared.jsonl", r.lines(e.FEVER)))
    assert shared.answers == ("false",)
    assert shared.support == (Support("", "Aino Laine (born 1921) is a Finnish director."),)


def test_qed(tmp_path: Path) -> None:
    several = e.QED | {"id": 6, "answers": ["Aino Laine", "Ove Dahl"]}
    blank = e.QED | {"id": 7, "answers": [""]}
    question = only(load(tmp_path, "qed", "qed.jsonl", r.lines(several, e.QED, blank)))
    assert question.id == "5" and question.answers == ("Aino Laine",)
    text = "Salt Road is a 1950 film. The film Salt Road was directed by Aino Laine."
    assert question.documents == ({"title": "Salt Road (film)", "text": text},)
    assert question.support == (Support("Salt Road (film)", text),)


def test_questions_on_knowledge_graphs(tmp_path: Path) -> None:
    path = only(load(tmp_path, "pathquestion", "pq.jsonl", r.lines(r.PATHQUESTION)))
    assert path.question == "which nationality is aino laine 's couple ?"
    assert (path.answers, path.kind) == (("united kingdom",), "2hop")
    assert path.support[1] == Support(
        "ove dahl", facts=(("ove dahl", "nationality", "united kingdom"),)
    )
    assert (path.answer_sets, path.entities) == ((("united kingdom",),), ("aino laine",))
    webqsp = only(load(tmp_path, "webqsp", "w.jsonl", r.lines(e.WEBQSP)))
    assert webqsp.answers == ("Berta Lind",) and len(webqsp.graph) == len(e.WEBQSP["triples"])
    stance = only(load(tmp_path, "explagraphs", "e.jsonl", r.lines(r.EXPLAGRAPHS)))
    assert stance.answers[0] == "A" and "Argument 2: Tea costs little." in stance.question
    assert stance.support[0].facts == (("tea", "causes", "joy"),)


def test_rog_subgraphrag_and_grailqa(tmp_path: Path) -> None:
    unanswered = r.ROG | {"id": "WebQTest-2", "answer": []}
    found = load(tmp_path, "rog", "rog.jsonl", r.lines(r.ROG, unanswered))
    assert (found.metrics[0], found.corpus_metrics) == ("set_f1", ("micro_f1",))
    question = only(found)
    assert question.answer_sets == (("Io",), ("Europa",)) and question.entities == ("Jupiter",)
    assert question.graph == (("Io", "orbits", "Jupiter"), ("Europa", "orbits", "Jupiter"))
    scored = only(load(tmp_path, "subgraphrag", "s.jsonl", r.lines({"id": "a", **r.SCORED})))
    torch.save({"a": r.SCORED}, tmp_path / "webqsp.pth")
    assert only(load_benchmark("subgraphrag", tmp_path / "webqsp.pth")) == scored
    assert (scored.graph, scored.entities) == ((("Io", "orbits", "Jupiter"),), ("Jupiter",))
    torch.save({"a": object()}, tmp_path / "unsafe.pth")
    with pytest.raises(InputError, match="cannot be read"):
        load_benchmark("subgraphrag", tmp_path / "unsafe.pth")
    freebase = only(load(tmp_path, "grailqa", "g.json", json.dumps([r.GRAILQA])))
    assert freebase.answer_sets == (("Io",), ("m.0x",), ("1610",))
    assert (freebase.entities, freebase.kind) == (("m.03h64",), "zero-shot")
