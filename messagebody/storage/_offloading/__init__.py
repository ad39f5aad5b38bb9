"""Offloading: moving large parts to a store and back, and the maintenance of stores."""
