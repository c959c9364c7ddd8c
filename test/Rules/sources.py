"""Every fact of a machine says where it comes from, and how sure it is."""

import tomllib

GRADES = ("datasheet", "measured", "derived", "assumed")
ORIGIN = ("source", "grade")


def check_origin(table, where, inherited):
    """Complaints about the source and grade of a table; `inherited` has both."""
    for key in ORIGIN:
        if key not in table and not inherited:
            yield f"{where}: no {key}"
    if not str(table.get("source", "-")).strip():
        yield f"{where}: the source is empty"
    if table.get("grade", "assumed") not in GRADES:
        yield f"{where}: expected a grade of {', '.join(GRADES)}, got {table['grade']}"


def check_table(table, where, inherited=False):
    yield from check_origin(table, where, inherited)
    for key, value in table.items():
        path = f"{where}.{key}"
        if isinstance(value, dict):
            # A value with an origin of its own states both parts of it.
            states = "value" in value or any(origin in value for origin in ORIGIN)
            if states:
                yield from check_origin(value, path, False)
            if "value" not in value:
                yield from check_table(value, path, True)
        elif key not in ORIGIN and isinstance(value, list):
            for number, row in enumerate(value):
                if isinstance(row, dict):
                    yield from check_table(row, f"{path}[{number}]")


def check_engine_row(row, where, families):
    """Cases have what their row says, its origin too."""
    cases = row.get("case", [{}])
    shared = {key: value for key, value in row.items() if key != "case"}
    for number, case in enumerate(cases):
        label = f"{where}.case[{number}]" if "case" in row else where
        yield from check_table({**shared, **case}, label)
        for family in {**shared, **case}.get("architectures", []):
            if family not in families:
                yield f"{where}: no machine of architecture {family}"


def check_engines(root, families):
    for path in sorted((root / "targets/engines").glob("*.toml")):
        name = path.relative_to(root).as_posix()
        for key, rows in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for row in rows if isinstance(rows, list) else []:
                yield from check_engine_row(row, f"{name}: {key}", families)


def check_sources(root):
    paths = [path for path in sorted((root / "targets").rglob("*.toml"))
             if path.parent.name != "engines"]
    if not paths:
        yield "targets: expected target files, found none"
    parsed = [(path, tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths]
    yield from check_engines(root, {file["target"]["family"] for _, file in parsed
                                    if "family" in file.get("target", {})})
    for path, file in parsed:
        name = path.relative_to(root).as_posix()
        for key, section in file.items():
            rows = section if isinstance(section, list) else [section]
            for row in rows:
                if isinstance(row, dict):
                    label = f"{key} {row['name']}" if "name" in row else key
                    yield from check_table(row, f"{name}: {label}")
