"""Leaves out of jsonschema the parser of IRIs, which takes seconds to import in each process.

No schema here has an IRI. Without that parser jsonschema checks every other format all the same.
"""

import sys
from typing import Any

_modules: dict[str, Any] = sys.modules
_modules["rfc3987_syntax"] = None
