"""encode.py ENCODING FOLDER FILE...: each file in another encoding, as FOLDER/stem-ENCODING.suffix"""

import pathlib
import sys

encoding, folder, *files = sys.argv[1:]
for path in map(pathlib.Path, files):
    (pathlib.Path(folder) / f"{path.stem}-{encoding}{path.suffix}").write_bytes(path.read_text().encode(encoding))
