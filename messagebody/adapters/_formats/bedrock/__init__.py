"""Amazon Bedrock's Converse: its messages."""
