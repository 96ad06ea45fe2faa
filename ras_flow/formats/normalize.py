"""When two names are one entity, when a text has a name in it, and when two questions are one.

The rules keep apart what would be two numbers ("3.5" and "35", "-5" and "5", "10⁵" and "105") and
what only a symbol tells apart ("C", "C++", "C#").
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby

import regex

from ras_flow.formats.text import stream_safe
from ras_flow.formats.tokens import POINTS, STROKES, UNSPACED, tokenize, written_alike

_ARTICLES = frozenset({"the", "a", "an", "The", "A", "An", "THE"})
_LETTER_A = re.compile(r"[^\w\s]*((?:(?:the|an?)\s+)*)a[-/&*]", re.IGNORECASE)
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ´`", "'"))
_TRADEMARK = re.compile(r"(?<=[\w™℠])[™®©℠]+")
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?!\d|,\d)")
_SPACED_RANGE = re.compile(r"(\d) - (?=\d)")
_NUMBER_AHEAD = re.compile(r"[$€£¥₹]?\.?\d")
_MARK = re.compile(r"[^\w\s]|_")
_LOOSE_MARK = re.compile(rf"(?:{_MARK.pattern})(?:(?<!\d.)|(?!\d))")
"""A mark that is not between two digits, where it stays."""
_HANGUL = regex.compile(r"\p{Hangul}")
_HIDDEN = regex.compile(r"[\p{Cf}\p{Cs}\ufe00-\ufe0f]+")
_POINTS = frozenset(re.findall(f"[{POINTS}]", "".join(map(chr, range(0x300, 0x700)))))
_QUOTES = re.compile(r"""^["'“(\[]+|(?:["'”,;:!?.\]]|(?<!\()\))+$""")
_CODE = regex.compile(
    r"^(?:--?|\.{0,2}/|\*?\.|[_~@$\\])\p{L}|\w(?:[/_\\]|\(\))$|\w(?:_|\\|::|->|=|:/)\w"
    r"|\w\w\.\p{Ll}\w|/.*/"
)
"""An option, a path, a file or an identifier, as against words that a mark joins or ends."""


_LONGEST_KEPT = 300
"""Characters of a text whose form is kept: those of names, not of whole passages."""


def name_key(text: str) -> str:
    """Return the key of a name: two names are one entity if they have the same key.

    Names are joined only where that is safe. What :func:`normalize_name` drops does not count
    either, except:

    * Letter case counts, but in plain words the place or the taste of a writer may have changed it:
      in those with a capital in front from three letters on ("Electrons"), and in those all in
      capitals from five on ("UNESCO"); beside other words one letter less is enough ("Lord Of"),
      right behind a number, where units are, it takes five. So "mW" is not "MW", "US" not "us",
      "Co" not "CO".
    * Accents and strokes of Latin letters count: "Ánh" and "Anh" are two people, "año" is not
      "ano". One name with and without its accents is rare within a corpus: of 139 names that the
      1,890 passages of our OpenIE sample spell in two ways, one ("Québec City").
    * Options, paths, files and identifiers stay as they are: "--database", "page/", ".env", "_id".
    """
    return _kept_key(text) if len(text) <= _LONGEST_KEPT else _key(text)


def normalize_name(text: str) -> str:
    """Return the form in which names are looked for in texts, and answers are compared.

    Letter case, compatibility forms (NFKC), whitespace and leading English articles do not
    count, but the "A" of "A-10" and "A*" is not an article. Diacritics on Latin and Greek letters
    do not count ("Beyoncé" is "Beyonce", "Wałęsa" is "Walesa"), nor do marks that many texts leave
    out, such as the stress of "Москва́"; others make another letter (Cyrillic й, Japanese が) and
    stay. Letters written for each other (ё and е) and the digits of all scripts are one.
    Punctuation is dropped, except:

    ======================================  ============================================
    between two digits                      stays: "3.5", "1899-1925", "3:45", "1/2"
    commas that group thousands             dropped: "1,000" is "1000" (but not "1,5")
    minus sign of a number, decimal point   stays: "-5"; ".5" becomes "0.5"
    hyphen at the end, quoted or not        stays: "O-" is not "O", "1990-" not "1990"
    symbols, "#" and "%"                    stay: "C++", "C#", "5%", "$5"
    "&"                                     becomes "and"
    apostrophe inside a word                dropped without a gap: "O'Brien" is "OBrien"
    dots of initials                        close up: "J. K.", "J.K." and "JK" are one
    any other mark                          becomes a gap: "Spider-Man" is "Spider Man"
    ======================================  ============================================
    """
    return _kept_form(text) if len(text) <= _LONGEST_KEPT else _form(text)


def _form(text: str) -> str:
    folded = _fold(text)
    return " ".join(_words(folded)) or folded


def _key(text: str) -> str:
    plain = _plain(text)
    words: list[str] = []
    for is_code, group in groupby(plain.split(), _is_code):
        if is_code:
            words += (_QUOTES.sub("", word) for word in group)
        else:
            words += _words(" ".join(group), begins=not words)
    pairs = zip(["", *words], words, strict=False)
    return " ".join(_fold_case(word, before, len(words)) for before, word in pairs) or plain


def _is_code(word: str) -> bool:
    return not word.isalnum() and _CODE.search(_QUOTES.sub("", word)) is not None


def _fold_case(word: str, before: str, count: int) -> str:
    """Fold the case of a plain word; ``before`` it is another of the ``count`` words of a name."""
    if word.islower():
        return word.casefold()
    if _MARK.search(word) or any(map(str.isdecimal, word)):
        return word
    if not (word.isupper() or (word[0].isupper() and word[1:].islower())):
        return word
    least = 5 if before[-1:].isdecimal() else (4 if word.isupper() else 2) + (count == 1)
    return word.casefold() if len(word) >= least else word


_kept_form, _kept_key = map(lru_cache(maxsize=16_384), (_form, _key))


@lru_cache(maxsize=16_384)
def name_words(text: str) -> tuple[str, ...]:
    """Return the words of a name or text, by which one tells how much it shares with another."""
    words = normalize_name(text).split()
    return tuple(
        part for word in words for part in ([word] if word.isascii() else tokenize(word) or [word])
    )


def has_name(text: str, name: str) -> bool:
    """Tell whether a text has a name in it, both normalised; never an empty one."""
    return has_any_name(text, [name])


def has_any_name(text: str, names: Iterable[str]) -> bool:
    """Tell whether a text has one of several names in it; see :func:`has_name`."""
    form = normalize_name(text)
    forms = [wanted for wanted in map(normalize_name, names) if wanted]
    # The initial of "A. Milne" has no dot inside of a text.
    forms += [f"a {wanted[3:]}" for wanted in forms if wanted.startswith("a. ")]
    return any(has_words(form, wanted) for wanted in forms)


def has_words(text: str, words: str) -> bool:
    """Tell whether a text has these words in it, and no parts of longer ones.

    In scripts without spaces between words any part of a text may be a word; a Korean ending is no
    part of the word before it.
    """
    if f" {words} " in f" {text} ":
        return True
    if text.isascii():
        return False
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        begins = _is_gap(text[at - 1 : at], words[0])
        if begins and (_is_gap(words[-1], text[end : end + 1]) or _HANGUL.match(text, end)):
            return True
        at = text.find(words, at + 1)
    return False


def _is_gap(before: str, after: str) -> bool:
    """Tell whether one word may end and another begin between two characters."""
    return before in ("", " ") or after in ("", " ") or bool(UNSPACED.search(before + after))


def token_f1(a: str, b: str) -> float:
    """Return the F1 of two names' normalised words, each counted as often as it occurs."""
    left, right = (Counter(normalize_name(name).split()) for name in (a, b))
    if not left or not right:
        return float(left == right)
    return 2 * (left & right).total() / (left.total() + right.total())


def normalize_question(text: str) -> str:
    """Return the form of a question by which a repeated subquery is recognised."""
    words = normalize_name(text).split(" ")
    return " ".join([word for word in words[:-1] if word not in _ARTICLES] + words[-1:])


def _fold(text: str) -> str:
    """Fold case and diacritics beside what :func:`_plain` folds."""
    folded = _plain(text).casefold()
    if folded.isascii():
        return folded
    bare = unicodedata.normalize("NFKC", _drop_marks(folded, ("LATIN", "GREEK")))
    return stream_safe(bare.translate(STROKES)).casefold()


def _plain(text: str) -> str:
    """Fold compatibility forms, what is written in several ways or left out, and whitespace."""
    if text.isascii() and text.isprintable():
        return " ".join(text.replace("`", "'").split())
    text = _TRADEMARK.sub("", stream_safe(_HIDDEN.sub("", text)).translate(_APOSTROPHES))
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _part_numbers(text)).replace("\u2044", "/")
        text = unicodedata.normalize("NFKC", _drop_marks(text, ("GREEK",)))
        text = stream_safe(written_alike(text.replace("İ", "I").replace("i\u0307", "i")))
    return " ".join("".join(map(_plain_char, text)).split())


def _plain_char(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cc":
        return " "
    return "-" if category == "Pd" or char == "\u2212" else char


def _drop_marks(text: str, scripts: tuple[str, ...]) -> str:
    """Drop marks that do not make another letter, and the diacritics of some scripts."""
    kept: list[str] = []
    foldable = in_word = False
    for char in unicodedata.normalize("NFD", text):
        hamza = "\u0653" <= char <= "\u0655"
        if in_word and char in _POINTS and (hamza or not _is_letter(kept[-1] + char)):
            continue
        if "\u0300" <= char <= "\u036f":
            if foldable:
                continue
        else:
            foldable = unicodedata.name(char, "").startswith(scripts)
        in_word = char.isalnum() or (
            in_word and (char == "'" or unicodedata.category(char) == "Mn")
        )
        kept.append(char)
    return "".join(kept)


def _is_letter(marked: str) -> bool:
    """Tell whether a letter and the mark on it are a letter of their own, as Macedonian ѓ."""
    return len(unicodedata.normalize("NFC", marked)) == 1


def _part_numbers(text: str) -> str:
    """Set apart digits that NFKC would run together: "10⁵" as "10^5", "3½" as "3 1/2"."""
    parted: list[str] = []
    before = ""
    for char in text:
        kind = _number_kind(char)
        if before and kind and (kind != before or kind == "other"):
            parted.append("^" if (before, kind) == ("digit", "<super>") else " ")
        parted.append(char)
        before = kind
    return "".join(parted)


def _number_kind(char: str) -> str:
    if char.isdecimal():
        return "digit"
    plain = unicodedata.normalize("NFKC", char)
    if not any(c.isdecimal() or c in "+\u2212" for c in plain) or plain == char:
        return ""
    kind = unicodedata.decomposition(char).split(" ", 1)[0]
    return kind if kind in ("<super>", "<sub>") else "other"


def _words(folded: str, *, begins: bool = True) -> list[str]:
    """Apply the punctuation table and, where a name begins, leave out articles."""
    words = _unmarked(folded)
    if not begins:
        return [bare for word in words if (bare := word.rstrip("."))]
    if (letter := _LETTER_A.match(folded)) and words:
        _keep_letter(words, len(letter[1].split()))
    while len(words) > 1 and words[0] in _ARTICLES:
        del words[0]
    if len(words) > 1 and words[0] in ("a.", "A."):
        # The "A" of "A. Milne" and "A-10" has a dot, lest it be taken for an article next time.
        return [words[0], *(word.rstrip(".") for word in words[1:])]
    return [bare for word in words if (bare := word.rstrip("."))]


def _keep_letter(words: list[str], at: int) -> None:
    """Let the letter of "A-10" and "A* search" be no article: it becomes the initial "a."."""
    if words[at : at + 1] in (["a"], ["A"]):
        after = words[at + 1 : at + 2]
        if after and len(after[0]) == 1 and after[0].isalpha():
            words[at : at + 2] = [words[at] + after[0]]  # As initials close up.
        else:
            words[at] += "."


def _unmarked(folded: str) -> list[str]:
    """Drop marks; an initial keeps its dot unless it was joined to others."""
    if not _MARK.search(folded):
        return folded.split()
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), folded)
    text = _SPACED_RANGE.sub(r"\1-", text)
    words: list[str] = []
    joining = False
    for word in _LOOSE_MARK.sub(_replace_mark, text).split():
        initial = len(word) == 2 and word[0].isalpha() and word[1] == "."
        if joining and (initial or (len(word) == 1 and word.isalpha())):
            words[-1] = words[-1].rstrip(".") + word[0]
        else:
            words.append(word)
        joining = initial
    return words


def _replace_mark(match: re.Match[str]) -> str:
    mark, text = match[0], match.string
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    category = unicodedata.category(mark)
    if mark == "'":
        return "" if before.isalnum() and after.isalpha() else " "
    if mark == "-":
        is_sign = not before.isalnum() and _NUMBER_AHEAD.match(text, match.end())
        is_end = before.isalnum() and not _QUOTES.sub("", text[match.end() :])
        return mark if is_sign or is_end else " "
    if mark == ".":
        if after.isdecimal() and not before.isalnum() and before != ".":
            return "0."
        letter_before = text[match.start() - 2 : match.start() - 1]
        one_letter = before.isalpha() and not letter_before.isalnum()
        return ". " if one_letter else " "
    if mark == "&":
        return " and "
    if category[0] == "M" or mark in "#%‰" or (category[0] == "S" and mark != "|"):
        return mark
    return mark if category in ("Co", "Cn") else " "
