"""Decisions about contents: is there a JSON value that meets some content schemas and no others?"""
