"""Programs as their users write them, who know nothing of symgrad; ``run.py`` says what becomes of each."""
