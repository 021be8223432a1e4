"""A model's files where changes are reviewed: as text for git, and as sidecars."""
