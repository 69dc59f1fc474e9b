# tests/targets
