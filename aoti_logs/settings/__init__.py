"""Settings: what each variable and config value does, when it takes effect, and how it misleads."""

from aoti_logs.settings.catalogue import all_settings, setting
from aoti_logs.settings.model import Effect, Kind, Proof, Setting

__all__ = ["Effect", "Kind", "Proof", "Setting", "all_settings", "setting"]
