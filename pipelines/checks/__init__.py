"""Asset checks: what must hold of every table; a clean store is all green."""
