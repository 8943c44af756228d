"""Passes that fold, share, remove or replace ops by cheaper ones."""
