"""What notebooks show of derivatives, and the magic ``%%symgrad``: ``%load_ext symgrad``."""
