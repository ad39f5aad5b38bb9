"""The ground: values, limits, guards, files and threads that every other room stands on."""
