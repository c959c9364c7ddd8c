"""Structural mutations, drawn at random: one to four of them, one upon another."""

import re

SIZES = ["0", "1", "-1", "2", "3", "7", "100", "2147483647", "2147483648", "4294967296", "9007199254740993",
         "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e308", "-1e308", "5e-324",
         "0.1", "0x7fffffffffffffff", "00", "1_000", "1e999"]
WORDS = ["null", "nan", "inf", "NaN", "Infinity", "true", "[]", "{}", '""', "''", '"\\u0000"', '"\\ud800"',
         '"%s%n"', '"{layer}"', '"../../x"', "[[]]", "[{}]", '"a" * "b"', "loc(unknown)", "?", "*", "%0", "@x"]
OPENERS = ["(", "[", "{", "<", '{"a":', '[{"a":', "a.", "[a.", "tensor<", "module {\n", "func.func @f() {\n",
           "{a = ", "loc(fused[", "loc(callsite(", "tuple<", "(1 + ", "vector<2x", "() -> (", '"']
DEPTHS = [3, 150, 250, 3000, 50000, 300000]
LENGTHS = [200, 5000, 100000]
REPEATS = [2, 50, 2000, 20000]
MOST_LETTERS = 2_000_000  # of what is repeated
VALUE = re.compile(r'"[^"\n]*"|(?<![\w.%#])-?\d[\w.+]*')
WORD = re.compile(r"[A-Za-z_][\w.]{2,}")
NUMBER = re.compile(r"(?<![\w%#.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def spot(pattern, text, random):
    found = [match.span() for match in pattern.finditer(text)]
    return random.choice(found) if found else (0, 0)


def put(text, span, new):
    return text[:span[0]] + new + text[span[1]:]


def swapped(pattern):
    """Two things of one kind change places."""
    def swap(text, random):
        first, second = sorted((spot(pattern, text, random), spot(pattern, text, random)))
        if first[1] > second[0]:
            return text
        return put(put(text, second, text[slice(*first)]), first, text[slice(*second)])
    return swap


def copied(text, random):
    """A word becomes another one of the file."""
    return put(text, spot(WORD, text, random), text[slice(*spot(WORD, text, random))])


def resized(text, random):
    return put(text, spot(NUMBER, text, random), random.choice(SIZES))


def scaled(text, random):
    """A number becomes another that still might be right."""
    span = spot(NUMBER, text, random)
    number = text[slice(*span)]
    if not number.lstrip("-").isdigit() or len(number) > 30:
        return text
    return put(text, span, str(random.choice([int(number) * 2, int(number) // 2, int(number) + 1,
                                              int(number) * 1000, int(number) * 10**9])))


def retyped(text, random):
    return put(text, spot(VALUE, text, random), random.choice(WORDS))


def nested(text, random):
    at = spot(random.choice([VALUE, WORD]), text, random)[0] if random.random() < 0.8 else 0
    opener, depth = random.choice(OPENERS), random.choice(DEPTHS)
    closers = "".join({"(": ")", "[": "]", "{": "}", "<": ">"}.get(c, "") for c in reversed(opener))
    behind = closers * depth if random.random() < 0.5 else ""
    return put(text, (at, at), opener * depth + behind)


def lengthened(text, random):
    span = spot(random.choice([VALUE, WORD]), text, random)
    old = text[slice(*span)]
    length = random.choice(LENGTHS)
    longer = '"' + "x" * length + '"' if old.startswith('"') else (old or "x") * (length // max(len(old), 1))
    return put(text, span, longer)


def lines_changed(text, random):
    """A run of lines is gone, doubled, moved, or stands thousands of times."""
    lines = text.splitlines(keepends=True)
    first = random.randrange(len(lines) + 1)
    last = min(len(lines), first + random.choice([1, 1, 2, 5, 20]))
    run, rest = lines[first:last], lines[:first] + lines[last:]
    way = random.randrange(4)
    if way == 0:
        return "".join(rest)
    if way == 1:
        to = random.randrange(len(rest) + 1)
        return "".join(rest[:to] + run + rest[to:])
    times = min(random.choice(REPEATS), MOST_LETTERS // max(sum(map(len, run)), 1))
    repeated = [line.replace("#", str(i)) for i in range(times) for line in run] if way == 2 else run * 2
    return "".join(lines[:last] + repeated + lines[last:])


def numbered(text, random):
    """A line with a name stands thousands of times, each with a name of its own."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = random.randrange(len(lines))
    span = spot(WORD, lines[at], random)
    times = min(random.choice(REPEATS), MOST_LETTERS // len(lines[at]) + 1)
    many = "".join(put(lines[at], (span[1], span[1]), str(i)) for i in range(times))
    return "".join(lines[:at]) + many + "".join(lines[at + 1:])


def bytes_changed(text, random):
    at = random.randrange(len(text) + 1)
    new = random.choice(["\0", "\r", "\ufeff", "\x1b[31m", "\u202e", "\ud7ff", "é", "\\", '"', "'", "\n", "#", "//",
                         "%", "{layer}", "\x7f", "$", "`"])
    return put(text, (at, at + random.randrange(3)), new)


WAYS = [swapped(VALUE), swapped(WORD), swapped(NUMBER), copied, copied, resized, resized, scaled, scaled, retyped,
        retyped, nested, lengthened, lines_changed, lines_changed, numbered, bytes_changed]


def broken_bytes(data, random):
    """Now and then what is no text at all."""
    way = random.randrange(40)
    at = random.randrange(len(data) + 1)
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + bytes(random.randrange(256) for _ in range(8)) + data[at:]
    if way == 2:
        return data.decode("utf-8", "replace").encode(random.choice(["utf-16", "utf-16-be", "utf-32", "utf-8-sig"]))
    return data


def mutant(text, random):
    """(what was done, bytes of the file)"""
    labels = []
    for _ in range(random.choice([1, 1, 2, 3, 4])):
        way = random.choice(WAYS)
        text = way(text, random)
        labels.append(way.__name__)
    return ", ".join(labels), broken_bytes(text.encode("utf-8", "surrogatepass"), random)
