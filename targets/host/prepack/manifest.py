"""What is read of manifest.json, each value of the kind that it should have: a file that somebody changed is a
ValueError that says where."""

import json
import pathlib

KINDS = {int: "an integer", str: "a string", bool: "true or false", float: "a number", list: "a list", dict: "a table"}


def load(folder):
    """The whole manifest of a package."""
    path = pathlib.Path(folder) / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError:
        raise ValueError(f"{path}: expected the manifest of a package, got one that is nested too deeply") from None
    except ValueError as mistake:
        raise ValueError(f"{path}: expected the manifest of a package: {mistake}") from None
    return kept(manifest, dict, str(path))


def kept(value, kind, where):
    """The value, where it is of the kind."""
    fits = isinstance(value, kind) or kind is float and isinstance(value, int)
    if not fits or kind is not bool and isinstance(value, bool):
        raise ValueError(f"{where}: expected {KINDS[kind]}, got {repr(value)[:60]}")
    return value


def taken(table, key, kind, where):
    """The value of a key, which is there and of the kind."""
    if key not in table:
        raise ValueError(f'{where}: expected the key "{key}", got none')
    return kept(table[key], kind, f'"{key}" of {where}')


def listed(table, key, kind, where):
    """A list whose items are of a kind."""
    return [kept(item, kind, f'"{key}" of {where}') for item in taken(table, key, list, where)]


def within(value, least, most, where):
    """The value, where it lies between these."""
    if not least <= value <= most:
        raise ValueError(f"{where}: expected {least} to {most}, got {value}")
    return value


def numbers(manifest):
    """What each type of few bits is made of."""
    known = {}
    for name, facts in taken(manifest, "numbers", dict, "the manifest").items():
        where = f"the type {name}"
        kept(facts, dict, where)
        known[name] = {
            "bits": within(taken(facts, "bits", int, where), 1, 8, where),
            "signed": taken(facts, "signed", bool, where),
            "fraction_bits": within(taken(facts, "fraction_bits", int, where), 0, 7, where),
            "smallest_exponent": within(taken(facts, "smallest_exponent", int, where), -149, 127, where),
            "largest": within(taken(facts, "largest", float, where), 2.0**-149, 2.0**127, where)}
    return known


def plans(manifest):
    """The tables of the plans, by their names."""
    known = listed(manifest, "plans", dict, "the manifest")
    return {taken(plan, "name", str, "a plan"): plan for plan in known}
