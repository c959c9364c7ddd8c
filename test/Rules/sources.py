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


def check_sources(root):
    paths = sorted((root / "targets").rglob("*.toml"))
    if not paths:
        yield "targets: expected target files, found none"
    for path in paths:
        name = path.relative_to(root).as_posix()
        for key, section in tomllib.loads(path.read_text(encoding="utf-8")).items():
            rows = section if isinstance(section, list) else [section]
            for row in rows:
                if isinstance(row, dict):
                    label = f"{key} {row['name']}" if "name" in row else key
                    yield from check_table(row, f"{name}: {label}")
