"""The modules here import one another as programs do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
