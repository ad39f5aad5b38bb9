"""Transcripts: conversations of any format, message by message, for those who look at them.

A converter refuses what it can't read. A reader of a run goes on and says what was wrong, because
people look at runs that failed. `exchanges` finds the messages in what was logged, `reading` reads
them, `message_facts` finds what their blocks state beside the content.
"""
