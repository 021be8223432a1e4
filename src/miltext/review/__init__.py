"""A model's files in code review: as text for git, and as sidecars."""
