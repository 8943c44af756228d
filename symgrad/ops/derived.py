from __future__ import annotations

DERIVED: dict[str, dict[str, str]] = {}
